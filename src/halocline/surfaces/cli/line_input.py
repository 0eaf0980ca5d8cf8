"""Typing a line or a prompt. The editor is imported when a line is wanted, and not before.

The event loop's own handler of Ctrl-C is left alone: while typing, Ctrl-C is a key.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.protocol.events import Mode
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


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


@dataclass(slots=True)
class Typed:
    """What stood in the line when somebody else was faster; it is there again the next time."""

    text: str = ""


async def composer(history: Path, mode: Mode, typed: Typed) -> Prompt | None:
    """The next prompt, or None when the person quits.

    Enter sends, Alt+Enter or Ctrl+J begins a new line, Shift+Tab changes the mode, Ctrl-D quits, Ctrl-C clears the
    text or quits when there is none.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText
    from prompt_toolkit.history import FileHistory

    history.parent.mkdir(parents=True, exist_ok=True)
    chosen = Chosen(mode)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        multiline=True,
        key_bindings=_composer_keys(chosen),
        prompt_continuation="  ",
        placeholder=FormattedText([("ansibrightblack", "Ask for something. Shift+Tab: plan or act, Ctrl-D: quit")]),
        erase_when_done=True,
    )
    while True:
        try:
            before, typed.text = typed.text, ""
            text = await session.prompt_async(lambda: FormattedText(chosen.prompt), default=before, handle_sigint=False)
        except (EOFError, KeyboardInterrupt):
            return None
        except asyncio.CancelledError:
            typed.text = session.default_buffer.text
            raise
        if text.strip():
            return Prompt(text, chosen.mode)


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
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def send(event: "KeyPressEvent") -> None:
        event.current_buffer.validate_and_handle()

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
