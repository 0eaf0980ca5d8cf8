"""The history of prompts, in a file that all tasks share."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from prompt_toolkit.buffer import Buffer
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

    async def load(self) -> AsyncGenerator[str, None]:
        """Give a buffer nothing by itself: that would be after a frame, and a key may come before."""
        nothing: tuple[str, ...] = ()
        for prompt in nothing:
            yield prompt

    def read(self) -> Sequence[str]:
        """Return all prompts, the newest first. The file is read once."""
        if not self._loaded:
            self._loaded_strings, self._loaded = list(self.load_history_strings()), True
        return self._loaded_strings

    def append_string(self, string: str) -> None:
        whole = self._chips.whole(string)
        if not (is_key(whole) or resembles_key(whole)):
            super().append_string(hide_key(string, self._is_provider))

    def store_string(self, string: str) -> None:
        make_private_folder(self._path.parent)
        self._path.touch(mode=0o600)
        super().store_string(self._chips.whole(string))


def fill_history(buffer: Buffer, history: PromptHistory) -> None:
    """Put the earlier prompts above what is typed, unless they are there, before a key that may ask for them."""
    if len(buffer._working_lines) == 1 and (prompts := history.read()):
        cursor = buffer.cursor_position
        buffer._working_lines.extendleft(prompts)
        buffer.working_index += len(prompts)
        buffer.cursor_position = cursor


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
