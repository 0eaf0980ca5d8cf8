"""The menu of line mode: one line for each key, erased once a key is chosen."""

from collections.abc import Awaitable, Callable, Container, Sequence
from functools import partial
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.surfaces.cli.plain.keyboard import RESUMED, Keyboard
from halocline.surfaces.cli.plain.line_input import read_line
from halocline.surfaces.terminal.asking.menu import ESCAPE, Options, ShowAgain, find_option
from halocline.surfaces.terminal.asking.text_editor import run_editor
from halocline.surfaces.terminal.drawing.screen import Screen
from halocline.surfaces.terminal.drawing.theme import Gutter, wrapped

ReadLine = Callable[[Keyboard, str, str, str], Awaitable[str | None]]


class KeyMenu:
    """Shows options below the screen's rows and reads the keyboard."""

    def __init__(self, screen: Screen, keyboard: Keyboard, *, line: ReadLine = read_line) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._line = line

    def call_person(self, text: str) -> None:
        if self._keyboard.is_idle:
            self._screen.call_person(text)

    async def choose(
        self,
        title: str,
        options: Options,
        show_again: ShowAgain,
        on_card: Container[str] = (),
        selected: str | None = "",
        *,
        takes_words: bool = False,
    ) -> str:
        """Return the key of an option, shown unless it is `on_card`. The card above has the `title`."""
        shown = {key: label for key, label in options.items() if key not in on_card}
        read_answer = partial(find_option, options=options) if takes_words else None
        numbers = "".join(map(str, range(1, len(options)))) if takes_words else ""
        while True:
            with self._screen.passing(_draw_menu(shown)) as erasing:
                key = await self._keyboard.choose("".join(options) + numbers, read_answer)
                if key != RESUMED:
                    return (find_option(key, options) if takes_words else None) or key
                erasing.pop_all()  # other programs wrote below it
            show_again()

    async def edit_files(self, paths: Sequence[Path]) -> None:
        self._keyboard.close()
        try:
            await run_editor(paths)
        finally:
            self._keyboard.open()

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        return await self._line(self._keyboard, prompt, initial, hint)


def _draw_menu(options: Options) -> RenderableType:
    """One line for each key with a label."""
    return Group(Text(), *(_draw_choice(key, text) for key, text in options.items()))


def _draw_choice(key: str, text: str) -> RenderableType:
    name, style = ("esc", "quiet") if key == ESCAPE else (key, "")
    return Gutter(wrapped(text, style), Text(f"  {name:<4}", style="accent", end=""), Text(" " * 6, end=""))
