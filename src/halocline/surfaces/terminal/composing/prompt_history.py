"""The history of prompts, in a file that all tasks share."""

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.history import FileHistory

from halocline.client.prompts import split_slash_command
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.protocol.private_files import make_private_folder
from halocline.surfaces.terminal.composing.pasting import Chips
from halocline.surfaces.terminal.composing.prompt import is_key, resembles_key


class PromptHistory(FileHistory):
    """Prompt history with pasted texts in full, as chips mean nothing in another run. Only its owner can read it."""

    def __init__(self, path: Path, chips: Chips, is_provider: Callable[[str], bool]) -> None:
        super().__init__(path)
        self._path = path
        self._chips = chips
        self._is_provider = is_provider

    def append_string(self, string: str) -> None:
        whole = self._chips.whole(string)
        if not (is_key(whole) or resembles_key(whole)):
            super().append_string(hide_key(string, self._is_provider))

    def store_string(self, string: str) -> None:
        make_private_folder(self._path.parent)
        self._path.touch(mode=0o600)
        super().store_string(self._chips.whole(string))


def hide_key(prompt: str, is_provider: Callable[[str], bool]) -> str:
    """Leave out what was typed behind `/login` and `/logout`, but for the provider: it may be a key."""
    name, rest = split_slash_command(prompt)
    if name not in ("login", "logout") or not rest:
        return prompt
    word = rest.split()[0]
    return f"/{name} {word}" if is_provider(word) else f"/{name}"


def is_provider(client: Client, word: str) -> bool:
    try:
        return bool(client.models.accounts.of(word))
    except HaloclineError:
        return False
