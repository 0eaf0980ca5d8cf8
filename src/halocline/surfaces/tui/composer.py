"""The line at the bottom of a task: prompts, the words of a search, and lines that a card asks for."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Key, Paste
from textual.widgets import TextArea

from halocline.surfaces.sanitize import clean

PROMPT_HINT = "Tab: write to the agent"
_ASKING_HINT = "Enter: send · Esc: back"


class Composer(TextArea):
    """A text that grows with its lines.

    `take_prompt` gets a prompt; `after_line` follows each line; `show_label` draws the `label` of the one asked for.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Composer { height: auto; max-height: 6; border: none; padding: 0 1; background: transparent; }
    Composer:focus { border: none; background: transparent; }
    Composer .text-area--cursor-line { background: transparent; }
    """

    def __init__(
        self, take_prompt: Callable[[str], None], after_line: Callable[[], None], show_label: Callable[[], None]
    ) -> None:
        super().__init__(show_line_numbers=False, soft_wrap=True, compact=True, placeholder=PROMPT_HINT, theme="css")
        self.highlight_cursor_line = False
        self._take_prompt = take_prompt
        self._after_line = after_line
        self._show_label = show_label
        self._answer: asyncio.Future[str | None] | None = None
        self._kept = ""
        self.label = ""

    @property
    def is_asking(self) -> bool:
        """True while a line is asked for."""
        return self._answer is not None

    async def read_line(self, label: str, hint: str = "", initial: str = "") -> str | None:
        """Ask for a line; None when the person went back. What was typed before comes back afterwards."""
        self.finish_line(None)
        self._kept, self.label = self.text, label
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._set_text(initial)
        self.placeholder = hint or _ASKING_HINT
        self._show_label()
        self.screen.set_focus(self)
        try:
            return await answer
        finally:
            if self._answer is answer:
                self._end_line()

    def finish_line(self, text: str | None) -> None:
        """End the line that is asked for, if there is one."""
        if self._answer and not self._answer.done():
            self._answer.set_result(text)
        if self._answer:
            self._end_line()

    def _end_line(self) -> None:
        self._answer, self.label, self.placeholder = None, "", PROMPT_HINT
        self._set_text(self._kept)
        self._kept = ""
        self._show_label()

    def _set_text(self, text: str) -> None:
        self.load_text(text)
        self.move_cursor(self.document.end)

    async def _on_key(self, event: Key) -> None:
        match event.key:
            case "enter":
                event.stop()
                event.prevent_default()
                self._send()
            case "shift+enter" | "ctrl+j" | "alt+enter":
                event.stop()
                event.prevent_default()
                self.insert("\n")
            case "escape":
                event.stop()
                event.prevent_default()
                self._go_back()
            case "tab" | "shift+tab":
                return
            case _:
                await super()._on_key(event)

    def _send(self) -> None:
        if self.is_asking:
            self.finish_line(self.text)
            self._after_line()
        elif text := self.text.strip():
            self._set_text("")
            self._take_prompt(text)

    def _go_back(self) -> None:
        self.finish_line(None)
        self._after_line()

    async def _on_paste(self, event: Paste) -> None:
        """Insert what was pasted without codes that would steer the terminal."""
        event.stop()
        event.prevent_default()
        self.insert(clean(event.text.replace("\r", "\n")))
