"""The line at the bottom of a task: prompts, the words of a search, and lines that a card asks for."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Key, Paste
from textual.widgets import TextArea

from halocline.surfaces.sanitize import clean
from halocline.surfaces.tui.input.completions import Completions
from halocline.surfaces.tui.input.prompt_recall import PromptRecall

PROMPT_HINT = "Tab: write to the agent"
_ASKING_HINT = "Enter: send · Esc: back"


class Composer(TextArea):
    """A text that grows with its lines, with the history of all prompts and completions.

    `take_prompt` gets a prompt, and True if it is sent whatever waits; it returns whether it took the prompt.
    `after_line` follows each line; `show_label` draws the `label` of the one asked for.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Composer { height: auto; max-height: 6; border: none; padding: 0 1; background: transparent; }
    Composer:focus { border: none; background: transparent; }
    Composer .text-area--cursor-line { background: transparent; }
    """

    def __init__(
        self,
        take_prompt: Callable[[str, bool], bool],
        after_line: Callable[[], None],
        show_label: Callable[[], None],
        recall: PromptRecall,
    ) -> None:
        super().__init__(show_line_numbers=False, soft_wrap=True, compact=True, placeholder=PROMPT_HINT, theme="css")
        self.highlight_cursor_line = False
        self._take_prompt = take_prompt
        self._after_line = after_line
        self._show_label = show_label
        self._recall = recall
        self.completions: Completions | None = None
        self.send_waiting: Callable[[], None] = lambda: None
        """Sends the first message that waits: Enter with nothing typed."""
        self.take_waiting: Callable[[], bool] = lambda: False
        """Takes the last message that waits back into the composer; False if there is none."""
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
            case "ctrl+s" if not self.is_asking:
                event.stop()
                event.prevent_default()
                self._offer(self.text.strip(), at_once=True)
            case "escape":
                event.stop()
                event.prevent_default()
                if not (self.completions and self.completions.close()):
                    self._go_back()
            case "tab" | "shift+tab":
                return
            case "up" | "down" if self._go(-1 if event.key == "up" else 1):
                event.stop()
                event.prevent_default()
            case _:
                await super()._on_key(event)

    def _send(self) -> None:
        if self.is_asking:
            self.finish_line(self.text)
            self._after_line()
        elif not self.text.strip():
            self.send_waiting()
        elif not (self._names_command() and not self.take_choice()) and (text := self.text.strip()):
            self._offer(text, at_once=False)

    def _offer(self, text: str, *, at_once: bool) -> None:
        if text and self._take_prompt(text, at_once):
            self._recall.add(text)
            self._set_text("")
            if self.completions:
                self.completions.begin_prompt()

    def _go(self, step: int) -> bool:
        """Go through the completions, or from the first or last line through the history; False if neither."""
        if self.has_choices and self.completions:
            self.completions.move(step)
            return True
        at_edge = self.cursor_location[0] == (0 if step < 0 else self.document.line_count - 1)
        if step < 0 and at_edge and not self.is_asking and self.take_waiting():
            return True
        if self.is_asking or not at_edge or (prompt := self._recall.go(-step, self.text)) is None:
            return False
        self._set_text(prompt)
        return True

    @property
    def has_choices(self) -> bool:
        return self.completions is not None and bool(self.completions.choices)

    def take_choice(self) -> bool:
        """Insert the selected completion, or the first. True if the command it names is complete."""
        if self.completions is None or not self.completions.choices:
            return False
        choice = self.completions.take()
        row, column = self.cursor_location
        self.replace(choice.text, (row, column - choice.replaces), (row, column))
        return not choice.text.startswith("@") and not choice.text.endswith(" ")

    def _names_command(self) -> bool:
        """True while Enter takes a completion: one is selected, or the name of a command is not complete."""
        if self.completions is None or not self.completions.choices:
            return False
        is_name = self.text.startswith("/") and not any(letter.isspace() for letter in self.text)
        is_whole = any(choice.text.strip() == self.text for choice in self.completions.choices)
        return self.completions.selected is not None or (is_name and not is_whole)

    def on_text_area_changed(self) -> None:
        if self.completions and not self.is_asking:
            row, column = self.cursor_location
            self.completions.look_up(self.document.get_text_range((0, 0), (row, column)))

    def on_blur(self) -> None:
        if self.completions:
            self.completions.close()

    def _go_back(self) -> None:
        self.finish_line(None)
        self._after_line()

    async def _on_paste(self, event: Paste) -> None:
        """Insert what was pasted without codes that would steer the terminal."""
        event.stop()
        event.prevent_default()
        self.insert(clean(event.text.replace("\r", "\n")))
