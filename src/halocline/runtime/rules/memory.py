"""The notes for tasks in one folder, as a person handles them: shown, numbered across both files, removed."""

import re
from pathlib import Path

from halocline.context.user_files.memory import (
    LONGEST,
    LONGEST_NOTE,
    PROJECT,
    Memo,
    add_memo,
    leads_out,
    memory_section,
    parse_memos,
    personal_file,
    replace_memo,
    text_of,
    words_beside,
)
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileChangedOutside
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.runtime.assembly.optional_parts import files_within

LARGEST = 1_000_000
NOTE = re.compile(r"# +(\S[^\n]*)")
"""A prompt that is a note: one line behind a hash. A heading that has text below it is none."""
OFF = "Notes are off, so no task would read it."
HOW_ON = "To switch them on: memory = true in settings.toml. Or say it to the agent, without the hash."


def note_in(prompt: str) -> str:
    """The note that a person typed in the place of a prompt; empty when it is none."""
    found = NOTE.fullmatch(prompt.strip())
    return found[1].strip() if found else ""


class Remembered(Value, frozen=True):
    """One note; `file` is where it stands. `date` and `task` are empty for one that a person wrote."""

    number: int
    text: str
    date: str
    task: str
    file: Path


class Source(Value, frozen=True):
    """One file: its notes, how many other lines it has, and whether it is longer than what tasks are given."""

    file: Path
    notes: tuple[Remembered, ...]
    beside: int
    is_cut: bool


class Memory:
    """`on` says whether new tasks are given the notes; a person may look at them in any case."""

    def __init__(self, workspace: Path, folder: Path, *, on: bool) -> None:
        self.on = on
        self._place = workspace, folder
        self.personal = personal_file(folder, workspace)
        self.project = workspace / PROJECT
        self.leads_out = leads_out(workspace)

    @property
    def given(self) -> str:
        """What a task that begins now is told."""
        return memory_section(*self._place)

    def sources(self) -> list[Source]:
        """The person's own file first, then the project's; those that are not empty. Raises UsageError."""
        notes = [_number_memo(number, memo, file) for number, (memo, file) in enumerate(self._found(), 1)]
        sources = []
        for file in self._files:
            text = _read_file(file)
            own = tuple(note for note in notes if note.file == file)
            sources.append(Source(file, own, words_beside(text), len(text) > LONGEST))
        return [source for source in sources if source.notes or source.beside]

    async def keep(self, text: str) -> Path:
        """Write a note of the person's own down, for tasks in the folder to begin with; gives its file.

        Raises:
            UsageError: notes are off, it is none, or its file cannot be written.
        """
        if not self.on:
            raise UsageError(OFF, HOW_ON)
        await self.add(text, project=False)
        return self.personal

    async def add(self, text: str, *, project: bool) -> None:
        """Write a note of the person's down, in the project's file or in their own. Raises UsageError."""
        said, file = " ".join(text.split()), self.project if project else self.personal
        if not said or len(said) > LONGEST_NOTE:
            raise UsageError(f"A note has 1 to {LONGEST_NOTE} characters.", "Make two of it.")
        if project and self.leads_out:
            raise UsageError(f"{file} is a link to a place outside the project.", "Keep the note for yourself.")
        try:
            before = await LocalFiles().read(file, LARGEST) if file.exists() else None
            after = add_memo((before or b"").decode("utf-8", "surrogateescape"), f"- {said}")
            await self._writer(file).write(file, after.encode("utf-8", "surrogateescape"), before)
        except FileChangedOutside:
            raise UsageError(f"{file} was changed just now.", "Look again: halo memory show") from None
        except OSError as error:
            raise _refuse_file(file, error) from error

    async def forget(self, number: int) -> Remembered:
        """Remove a note, and give it. Raises UsageError."""
        found = self._found()
        if not 0 < number <= len(found):
            raise UsageError(f"There is no note {number}.", "See: halo memory show")
        memo, file = found[number - 1]
        try:
            before = await LocalFiles().read(file, LARGEST)
            after = replace_memo(before.decode("utf-8", "surrogateescape"), memo)
            await self._writer(file).write(file, after.encode("utf-8", "surrogateescape"), before)
        except FileChangedOutside:
            raise UsageError(f"{file} was changed just now.", "Look again: halo memory show") from None
        except OSError as error:
            raise _refuse_file(file, error) from error
        return _number_memo(number, memo, file)

    def _writer(self, file: Path) -> LocalFiles:
        """The project's file may not lead out of the project; where the person's own leads is theirs to say."""
        return LocalFiles() if file == self.personal else files_within(self.project.parents[1])

    @property
    def _files(self) -> tuple[Path, ...]:
        return (self.personal,) if self.leads_out else (self.personal, self.project)

    def _found(self) -> list[tuple[Memo, Path]]:
        return [(memo, file) for file in self._files for memo in parse_memos(_read_file(file))]


def _number_memo(number: int, memo: Memo, file: Path) -> Remembered:
    return Remembered(number, memo.text, memo.date, memo.task, file)


def _read_file(file: Path) -> str:
    try:
        return text_of(file)
    except OSError as error:
        raise _refuse_file(file, error) from error


def _refuse_file(file: Path, error: OSError) -> UsageError:
    return UsageError(f"Cannot use {file}: {error.strerror or error}.", "Look at it, or move it away.")
