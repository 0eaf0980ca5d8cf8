"""The history of prompts, in a file that all tasks share."""

from pathlib import Path

from prompt_toolkit.history import FileHistory

from halocline.client.prompts import split_slash_command
from halocline.protocol.private_files import make_private_folder
from halocline.surfaces.terminal.composing.pasting import Chips


class PromptHistory(FileHistory):
    """Prompt history with pasted texts in full, as chips mean nothing in another run."""

    def __init__(self, path: Path, chips: Chips) -> None:
        super().__init__(str(path))
        self._chips = chips

    def append_string(self, string: str) -> None:
        super().append_string(hide_key(string))

    def store_string(self, string: str) -> None:
        super().store_string(self._chips.whole(string))


def hide_key(prompt: str) -> str:
    """Leave out what was typed behind the provider of `/login`: it may be a key."""
    name, rest = split_slash_command(prompt)
    return f"/{name} {rest.split()[0]}" if name == "login" and len(rest.split()) > 1 else prompt


def open_history(path: Path, chips: Chips) -> PromptHistory:
    """Open the history, whose file only its owner can read."""
    make_private_folder(path.parent)
    path.touch(mode=0o600)
    return PromptHistory(path, chips)
