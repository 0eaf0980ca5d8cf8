"""The history of prompts, in a file that all tasks share."""

from pathlib import Path

from prompt_toolkit.history import FileHistory

from halocline.protocol.private_files import make_private_folder
from halocline.surfaces.terminal.composing.pasting import Chips


class PromptHistory(FileHistory):
    """Prompt history with pasted texts in full, as chips mean nothing in another run."""

    def __init__(self, path: Path, chips: Chips) -> None:
        super().__init__(str(path))
        self._chips = chips

    def store_string(self, string: str) -> None:
        super().store_string(self._chips.whole(string))


def open_history(path: Path, chips: Chips) -> PromptHistory:
    """Open the history, whose file only its owner can read."""
    make_private_folder(path.parent)
    path.touch(mode=0o600)
    return PromptHistory(path, chips)
