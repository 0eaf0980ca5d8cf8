"""Typing a line or a prompt. The editor is imported when a line is wanted, and not before.

The event loop's own handler of Ctrl-C is left alone: while typing, Ctrl-C is a key.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.protocol.events import Mode
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.styles import Style

    from halocline.surfaces.cli.word_menu import Menu

MENU_LINES = 10


async def read_line(prompt: str, initial: str = "") -> str | None:
    """One line, to be edited from `initial` on. None when the person left it with Ctrl-C or Ctrl-D."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText

    session: PromptSession[str] = PromptSession(erase_when_done=True)
    try:
        return await session.prompt_async(FormattedText([("ansicyan", prompt)]), default=initial, handle_sigint=False)
    except (EOFError, KeyboardInterrupt):
        return None


class Prompt(Value, frozen=True):
    """What a person typed, and the mode in which it is meant."""

    text: str
    mode: Mode


async def composer(history: Path, mode: Mode, menu: "Menu | None" = None) -> Prompt | None:
    """The next prompt, or None when the person quits.

    Enter sends, Alt+Enter or Ctrl+J begins a new line, Shift+Tab changes the mode, Ctrl-D quits, Ctrl-C clears the
    text or quits when there is none. Tab and the arrows choose from the menu that a slash opens,
    Escape closes it.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.formatted_text import FormattedText
    from prompt_toolkit.history import FileHistory

    from halocline.surfaces.cli.word_completer import completer

    history.parent.mkdir(parents=True, exist_ok=True)
    chosen = Chosen(mode)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        multiline=True,
        key_bindings=_composer_keys(chosen),
        prompt_continuation="  ",
        placeholder=FormattedText([("ansibrightblack", "Ask for something. Shift+Tab: plan or act, Ctrl-D: quit")]),
        erase_when_done=True,
        completer=completer([menu]) if menu else None,
        complete_while_typing=Condition(lambda: menu is not None and menu.is_open(session.default_buffer.text)),
        reserve_space_for_menu=MENU_LINES,
        style=_menu_style(),
    )
    while True:
        try:
            text = await session.prompt_async(lambda: FormattedText(chosen.prompt), handle_sigint=False)
        except (EOFError, KeyboardInterrupt):
            return None
        if text.strip():
            return Prompt(text, chosen.mode)


def _menu_style() -> "Style":
    """The menu in the terminal's own colours, whatever they are."""
    from prompt_toolkit.styles import Style

    return Style(
        [
            ("completion-menu", "bg:default fg:default"),
            ("completion-menu.completion", "bg:default fg:ansicyan"),
            ("completion-menu.completion.current", "bg:default fg:ansicyan reverse"),
            ("completion-menu.meta.completion", "bg:default fg:ansibrightblack"),
            ("completion-menu.meta.completion.current", "bg:default fg:default"),
            ("scrollbar.background", "bg:default"),
            ("scrollbar.button", "bg:ansibrightblack"),
        ]
    )


@dataclass(slots=True)
class Chosen:
    """The mode that is chosen while a prompt is typed."""

    mode: Mode

    @property
    def prompt(self) -> list[tuple[str, str]]:
        plan = [("ansiyellow", "plan ")] if self.mode is Mode.PLAN else []
        return [("", "\n"), *plan, ("ansicyan bold", "❯ ")]

    def switch(self) -> None:
        self.mode = Mode.ACT if self.mode is Mode.PLAN else Mode.PLAN


def _composer_keys(chosen: Chosen) -> "KeyBindings":
    from prompt_toolkit.filters import has_completions
    from prompt_toolkit.key_binding import KeyBindings

    from halocline.surfaces.cli.word_completer import taken

    keys = KeyBindings()

    @keys.add("enter")
    def send(event: "KeyPressEvent") -> None:
        if not taken(event.current_buffer):
            event.current_buffer.validate_and_handle()

    @keys.add("escape", filter=has_completions)
    def close_menu(event: "KeyPressEvent") -> None:
        event.current_buffer.cancel_completion()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def new_line(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("s-tab")
    def switch(event: "KeyPressEvent") -> None:
        chosen.switch()

    @keys.add("c-c")
    def clear(event: "KeyPressEvent") -> None:
        if not event.current_buffer.text:
            event.app.exit(exception=KeyboardInterrupt)
        event.current_buffer.reset()

    return keys
