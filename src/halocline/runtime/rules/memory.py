"""Memory for tasks in one folder: show the notes, numbered across both files, add and remove them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halocline.context.user_files import memory
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileChangedOutside
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.runtime.parts.files import files_within

LARGEST = 1_000_000
NOTE = re.compile(r"# +(\S[^\n]*)")
"""A prompt that is a note: one line after a hash. A heading with text below it is not a note."""
OFF = "Memory is off, so no task would read this note."
HOW_ON = "Turn it on with memory = true in settings.toml (/config memory true), or send the text without the hash."


def parse_note(prompt: str) -> str:
    """Return the note typed in place of a prompt; empty if it is not a note."""
    found = NOTE.fullmatch(prompt.strip())
    return found[1].strip() if found else ""


class MemoryNote(Value, frozen=True):
    """One note in `file`. `date` and `task` are empty if a person wrote it."""

    number: int
    text: str
    date: str
    task: str
    file: Path


class MemoryFile(Value, frozen=True):
    """One file: its notes, the number of its other lines, and `is_cut` if it is longer than what tasks get."""

    file: Path
    notes: tuple[MemoryNote, ...]
    beside: int
    is_cut: bool


class Memory:
    """The notes of one folder. If `on`, new tasks get them; they can be shown and removed in any case."""

    def __init__(self, workspace: Path, folder: Path, *, on: bool) -> None:
        self.on = on
        self._place = workspace, folder
        self.personal = memory.personal_file(folder, workspace)
        self.project = workspace / memory.PROJECT
        self.leads_out = memory.leads_out(workspace)

    @property
    def given(self) -> str:
        """The text that a new task gets."""
        return memory.memory_section(*self._place)

    def sources(self) -> list[MemoryFile]:
        """Return the files that are not empty, the person's own before the project's. Raises UsageError."""
        notes = [_number_memo(number, memo, file) for number, (memo, file) in enumerate(self._list_memos(), 1)]
        sources = []
        for file in self._files:
            text = _read_file(file)
            own = tuple(note for note in notes if note.file == file)
            sources.append(MemoryFile(file, own, memory.words_beside(text), len(text) > memory.LONGEST))
        return [source for source in sources if source.notes or source.beside]

    async def keep(self, text: str) -> Path:
        """Save a personal note for new tasks in the folder; return its file.

        Raises:
            UsageError: memory is off, the note is empty or too long, or the file cannot be written.
        """
        if not self.on:
            raise UsageError(OFF, HOW_ON)
        await self.add(text, project=False)
        return self.personal

    async def add(self, text: str, *, project: bool) -> None:
        """Add a note to the project's file or the person's own. Raises UsageError."""
        note, file = " ".join(text.split()), self.project if project else self.personal
        if not note or len(note) > memory.LONGEST_NOTE:
            raise UsageError(
                f"A note must have 1 to {memory.LONGEST_NOTE} characters.", "Split a long note into several."
            )
        if project and self.leads_out:
            raise UsageError(f"{file} is a link to a place outside the project.", "Save it as a personal note instead.")
        with _explaining_errors(file):
            before = await LocalFiles().read(file, LARGEST) if file.exists() else None
            after = memory.add_memo((before or b"").decode("utf-8", "surrogateescape"), f"- {note}")
            await self._writer(file).write(file, after.encode("utf-8", "surrogateescape"), before)

    async def forget(self, number: int) -> MemoryNote:
        """Remove a note and return it. Raises UsageError."""
        found = self._list_memos()
        if not 0 < number <= len(found):
            raise UsageError(f"There is no note {number}.", "See: halo memory show")
        memo, file = found[number - 1]
        with _explaining_errors(file):
            before = await LocalFiles().read(file, LARGEST)
            after = memory.replace_memo(before.decode("utf-8", "surrogateescape"), memo)
            await self._writer(file).write(file, after.encode("utf-8", "surrogateescape"), before)
        return _number_memo(number, memo, file)

    def _writer(self, file: Path) -> LocalFiles:
        """Return a writer for a file. The project's must stay inside the project; the person's own may be a link."""
        return LocalFiles() if file == self.personal else files_within(self.project.parents[1])

    @property
    def _files(self) -> tuple[Path, ...]:
        return (self.personal,) if self.leads_out else (self.personal, self.project)

    def _list_memos(self) -> list[tuple[memory.Memo, Path]]:
        return [(memo, file) for file in self._files for memo in memory.parse_memos(_read_file(file))]


def _number_memo(number: int, memo: memory.Memo, file: Path) -> MemoryNote:
    return MemoryNote(number, memo.text, memo.date, memo.task, file)


def _read_file(file: Path) -> str:
    with _explaining_errors(file):
        return memory.text_of(file)


@contextmanager
def _explaining_errors(file: Path) -> Iterator[None]:
    """Raise UsageError for what fails with the file."""
    try:
        yield
    except FileChangedOutside:
        raise UsageError(f"{file} just changed on disk.", "Check it with halo memory show, then try again.") from None
    except OSError as error:
        hint = "Fix the file, or move it away."
        raise UsageError(f"Cannot use {file}: {error.strerror or error}.", hint) from error
