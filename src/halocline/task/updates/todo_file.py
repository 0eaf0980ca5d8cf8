"""The to-do list as a Markdown file in the task's folder, which the user may edit at any time.

What must stay true: the file is written after the log, and never over the user's changes since it was last written or
read; then the user's list wins, and the model gets a note.
"""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.protocol.events import TodosChanged
from halocline.protocol.kinds import Todo
from halocline.protocol.state.file_knowledge import TODO_FILE
from halocline.protocol.state.todo_markdown import from_markdown, to_markdown

LARGEST = 64_000
"""Bytes of the file that are read."""
HEAD = "<!-- Edit this list as you like: the agent sees your changes before its next step. Only items are kept. -->"

Look = tuple[int, int, int]


class TodoFile:
    """Writes the list at each change, and reads the user's edits."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TODO_FILE
        self._looked: Look | None = None

    def changed(self, event: TodosChanged) -> None:
        """Write the list, unless the file has an edit by the user that was not read yet."""
        if self._is_ours() or event.by == "person":
            self._write_list(event.todos)

    def edited(self, todos: tuple[Todo, ...]) -> tuple[Todo, ...] | None:
        """Return the user's list if the file differs from `todos`; a file without items does not count."""
        look = self._stat_file()
        if look is None or look == self._looked:
            return None
        with suppress(OSError):
            theirs = from_markdown(self._read_text())
            self._looked = look
            if theirs and theirs != from_markdown(to_markdown(todos)):
                return theirs
        return None

    def _is_ours(self) -> bool:
        """True if the file is unchanged since it was written or read; unknown in a new process, so False then."""
        return self._stat_file() in (None, self._looked)

    def _stat_file(self) -> Look | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read_text(self) -> str:
        return read_beginning(self._path, LARGEST).decode("utf-8", "replace")

    def _write_list(self, todos: tuple[Todo, ...]) -> None:
        """Write the file; a full disk costs the user this view of the list, not the task."""
        beside = self._path.with_suffix(".new")
        with suppress(OSError):
            with open(beside, "w", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
                file.write(f"{HEAD}\n\n{to_markdown(todos)}")
            os.replace(beside, self._path)
            self._looked = self._stat_file()
