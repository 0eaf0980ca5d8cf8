"""Earlier prompts in the composer of the board, from the history that all terminals share."""

from pathlib import Path

from halocline.surfaces.cli.input.pasting import Chips
from halocline.surfaces.cli.input.prompt_history import open_history


class PromptRecall:
    """Goes back and forth in the history. What was typed before comes back after the latest one."""

    def __init__(self, file: Path) -> None:
        self._history = open_history(file, Chips())
        self._prompts: list[str] = []
        self._at = 0
        self._typed = ""

    def add(self, prompt: str) -> None:
        """Store a prompt that was sent."""
        self._history.store_string(prompt)
        self.forget()

    def forget(self) -> None:
        """Begin again with the latest prompt."""
        self._prompts, self._at = [], 0

    def go(self, step: int, text: str) -> str | None:
        """Return the prompt that many steps back; None where there is none. `text` is what the composer has now."""
        if self._at == 0:
            self._typed = text
            self._prompts = list(dict.fromkeys(self._history.load_history_strings()))
        if not 0 <= self._at + step <= len(self._prompts):
            return None
        self._at += step
        return self._prompts[self._at - 1] if self._at else self._typed
