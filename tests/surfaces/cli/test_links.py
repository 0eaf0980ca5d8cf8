import io

from rich.console import Console

from halocline.surfaces.terminal.drawing.markdown import Prose
from halocline.surfaces.terminal.drawing.theme import THEME, Safe


def drawn(text: str, *, width: int = 60) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard", width=width, theme=THEME)
    console.print(Safe(Prose(text)))
    return file.getvalue()


def test_an_address_is_shown_and_is_a_link_to_itself() -> None:
    shown = drawn("See [the docs](https://example.org/a).")
    assert ";https://example.org/a\x1b\\" in shown
    assert shown.count("https://example.org/a") == 2


def test_only_addresses_of_the_web_are_links() -> None:
    assert "\x1b]8" not in drawn("[a](file:///etc/passwd) [b](javascript:alert) `https://example.org`")


def test_an_address_that_is_wrapped_is_no_link_to_its_half() -> None:
    assert "\x1b]8" not in drawn(f"[a](https://example.org/{'long/' * 20})", width=40)
