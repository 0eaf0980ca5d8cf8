"""The menu of plain lines: a line for each option, and one that is typed to choose."""

from collections.abc import Container, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.surfaces.cli.plain.line_reader import LineReader
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.dispatch import find_own_command
from halocline.surfaces.terminal.asking.menu import ESCAPE, Kind, Options, TypedAnswer, find_key, find_option
from halocline.surfaces.terminal.asking.text_editor import run_editor
from halocline.surfaces.terminal.composing.prompt import KEY_HELD, KeyGuard, Prompt, join_drafts
from halocline.surfaces.terminal.drawing.screen import Screen
from halocline.surfaces.terminal.drawing.theme import Gutter, wrapped

CHOICE = "Your choice"
NONE_OF_THEM = "is none of them"
NOT_NOW = "does not run while plain lines wait for your choice"


class LineMenu:
    """Lists options below the screen's rows and reads lines. Enter alone chooses the option that was selected."""

    def __init__(self, screen: Screen, lines: LineReader) -> None:
        self._screen = screen
        self._lines = lines

    def call_person(self, text: str) -> None:
        self._lines.person.call(text)

    async def choose(
        self,
        title: str,
        options: Options,
        on_card: Container[str] = (),
        selected: str | None = "",
        kind: Kind = Kind.ORDINARY,
    ) -> str:
        """Return the key of an option, listed unless it is `on_card`."""
        listed = {key: text for key, text in options.items() if key not in on_card}
        self._screen.list_options(_draw_options(title, listed))
        enter = f" (Enter: {selected})" if selected else " (Enter does nothing)" if selected is None else ""
        await self._lines.wait_for_silence()
        guard, held = KeyGuard(), ""
        while True:
            if (typed := await self._lines.read_line(f"{CHOICE}{enter}: ", held)) is None:
                return ESCAPE
            held = ""
            if why := guard.refuse(typed):
                self._screen.say(why)
                held = typed if why is KEY_HELD else ""
                continue
            word = typed.strip().casefold() or selected or ""
            if key := find_key(word, options) or (find_option(word, options) if kind is Kind.OWN else None):
                return key
            is_command = word.startswith("!") or (kind is not Kind.QUESTION and find_own_command(word) is not None)
            if kind is Kind.QUESTION and word and not is_command:
                return TypedAnswer(typed.strip())
            if not set(word) <= {*options}:
                self._lines.draft = "\n".join(filter(None, [self._lines.draft, typed]))
                why = NOT_NOW if is_command else NONE_OF_THEM
                self._screen.say(f"“{clean(typed)}” {why}. It is kept for your next prompt.")
                await self._lines.wait_for_silence()

    def put_back(self, message: Prompt) -> None:
        self._lines.draft = join_drafts(message.text, self._lines.draft)

    async def edit_files(self, paths: Sequence[Path]) -> None:
        await run_editor(paths, self._lines.editor)

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        await self._lines.wait_for_silence()
        return await self._lines.read_line(prompt, initial, hint)


def _draw_options(title: str, options: Options) -> RenderableType:
    head = [wrapped(clean(title), "title")] if title else []
    return Group(*head, *(_draw_option(key, text) for key, text in options.items()))


def _draw_option(key: str, text: str) -> RenderableType:
    name, style = ("esc", "quiet") if key == ESCAPE else (key, "")
    return Gutter(wrapped(text, style), Text(f"  {name:<4}", style="accent", end=""), Text(" " * 6, end=""))
