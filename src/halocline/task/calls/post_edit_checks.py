"""Checks on files that a call wrote: formatters change them, and language servers find new errors in them.

What must stay true: the change is already in the log, and stands whatever happens here. Without a matching formatter
or language server, nothing is read and nothing waits.
"""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from halocline.context.notes.diagnostics import note_new_problems
from halocline.edits.diff import make_diff
from halocline.edits.text import BinaryContent, decode_text
from halocline.ports.blobs import Blobs
from halocline.ports.diagnostics import Diagnostics, EditedText
from halocline.ports.host import LARGEST_EDIT, Files, Shell, ShellCommand
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import DurableEvent, FileChanged, ShellMoved
from halocline.protocol.kinds import Diff
from halocline.protocol.messages import Note
from halocline.protocol.values import Value

FORMATTER = "formatter"
LIMIT = 10.0
"""Timeout of a formatter in seconds."""
_LONGEST_DIFF = 4_000
_LONGEST_OUTPUT = 1_000
SOMEBODY = "a formatter or another program"


class Aftermath(Value, frozen=True):
    """Further facts, and notes for the model."""

    facts: tuple[DurableEvent, ...] = ()
    diffs: tuple[Diff, ...] = ()
    notes: tuple[Note, ...] = ()


class Formatted(Value, frozen=True):
    """Result of a formatter: the command that `ran`, or why it failed; its effect on the shell."""

    ran: str = ""
    failure: str = ""
    moved: ShellMoved | None = None


class Follower(Value, frozen=True):
    """Checks files once they are written. `formatters` are commands by pattern."""

    workspace: Path
    files: Files
    shell: Shell
    blobs: Blobs
    diagnostics: Diagnostics
    formatters: Mapping[str, str]

    async def after(self, facts: Sequence[DurableEvent]) -> Aftermath:
        """Check the files that the facts name."""
        changed = [fact for fact in facts if isinstance(fact, FileChanged)]
        formatted = [await self._format(one) for one in changed]
        looked = [
            await self._read_current(one) if done.ran else one for one, done in zip(changed, formatted, strict=True)
        ]
        edits = [self._edited_text(one) for one in looked if self.diagnostics.knows(self._path(one))]
        problems = await self.diagnostics.introduced(edits) if edits else ()
        reports = [await self._report_changes(one, done) for one, done in zip(changed, formatted, strict=True)]
        notes = [note for one in reports for note in one.notes]
        if problems:
            notes.append(note_new_problems(problems, self.workspace))
        facts = [fact for one in reports for fact in one.facts]
        return Aftermath(tuple(facts), tuple(diff for one in reports for diff in one.diffs), tuple(notes))

    async def _report_changes(self, was: FileChanged, formatted: Formatted) -> Aftermath:
        """Report what the file holds now, if that is not what was written."""
        moved = (formatted.moved,) if formatted.moved else ()
        failed = (Note(formatted.failure, FORMATTER),) if formatted.failure else ()
        now = await self._read_current(was) if formatted.ran or self.diagnostics.knows(self._path(was)) else was
        if now.after == was.after:
            return Aftermath(facts=moved, notes=failed)
        who = f"`{formatted.ran}`" if formatted.ran else SOMEBODY
        diff = make_diff(was.path, self._text(was.after, was), self._text(now.after, was))
        text = make_diff(was.path, self._text(was.after, was), self._text(now.after, was), _LONGEST_DIFF).text
        note = Note(f"{was.path} was changed after your edit, by {who}:\n{text}", FORMATTER)
        change = FileChanged(path=was.path, before=was.after, after=now.after, cause=was.cause)
        return Aftermath((*moved, change), (diff,), (*failed, note))

    async def _read_current(self, was: FileChanged) -> FileChanged:
        """Return the fact with the content now on disk; the same fact if it is unchanged or cannot be read."""
        if was.after is None:
            return was
        with suppress(OSError):
            data = await self.files.read(self._path(was), 2 * LARGEST_EDIT)
            with suppress(BinaryContent):
                decode_text(data, self.files.declared_encoding(self._path(was)))
                return FileChanged(path=was.path, before=was.before, after=self.blobs.put(data), cause=was.cause)
        return was

    async def _format(self, was: FileChanged) -> Formatted:
        command = next((text for glob, text in self.formatters.items() if _matches_glob(was.path, glob)), "")
        if not command or was.after is None:
            return Formatted()
        path, folder = shlex.quote(str(self._path(was))), shlex.quote(str(self.workspace))
        # In a subshell, so that it changes no folder and no variable for the model's commands.
        text = f"(cd {folder} && {command.replace('{path}', path)}\n)"
        try:
            ran = await self.shell.run(ShellCommand(text, str(self.workspace), LIMIT), _ignore_text)
        except ToolFailure as error:
            return Formatted(failure=f"The formatter for {was.path} (`{command}`) could not run. {error.text}")
        why, output = "", ran.output[-_LONGEST_OUTPUT:]
        if ran.exit_code is None:
            why = f"The formatter for {was.path} (`{command}`) was stopped after {LIMIT:g} s."
        elif ran.exit_code:
            why = f"The formatter for {was.path} (`{command}`) failed with exit code {ran.exit_code}:\n{output}"
        return Formatted(command, why, ran.moved)

    def _edited_text(self, change: FileChanged) -> EditedText:
        return EditedText(self._path(change), self._text(change.before, change), self._text(change.after, change))

    def _path(self, change: FileChanged) -> Path:
        return self.workspace / change.path

    def _text(self, reference: str | None, of: FileChanged) -> str | None:
        if reference is None:
            return None
        with suppress(BinaryContent):
            return decode_text(self.blobs.get(reference), self.files.declared_encoding(self._path(of))).text
        return ""


def _matches_glob(path: str, glob: str) -> bool:
    return fnmatch(path, glob) or fnmatch(Path(path).name, glob)


def _ignore_text(text: str) -> None:
    return None
