"""Line input. The editor is imported only when a line is needed.

The event loop's own Ctrl-C handler is left alone: in the editor, Ctrl-C is a key.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from halocline.surfaces.cli.plain.keyboard import Keyboard


async def read_line(keyboard: Keyboard, prompt: str, initial: str = "", hint: str = "") -> str | None:
    """Read a line that starts as `initial`. None on Ctrl-C or Ctrl-D.

    The `hint` is shown in an empty line. Text typed before the line appears is kept for the next prompt.
    """
    await keyboard.wait_for_silence()
    with edit_line(keyboard):
        from prompt_toolkit import PromptSession
        from prompt_toolkit.formatted_text import FormattedText

        session: PromptSession[str] = PromptSession(erase_when_done=True, enable_suspend=True)
        placeholder = FormattedText([("ansibrightblack", hint)])
        try:
            return await session.prompt_async(
                FormattedText([("ansicyan", prompt)]), default=initial, placeholder=placeholder, handle_sigint=False
            )
        except (EOFError, KeyboardInterrupt):
            return None


@contextmanager
def edit_line(keyboard: Keyboard) -> Iterator[None]:
    """Lend the terminal to the editor. Text typed after the Enter that ends its line goes to the draft."""
    with keyboard.hand_over():
        yield
    from prompt_toolkit.application import get_app_session
    from prompt_toolkit.input.typeahead import get_typeahead

    keyboard.type("".join(press.data for press in get_typeahead(get_app_session().input)))
