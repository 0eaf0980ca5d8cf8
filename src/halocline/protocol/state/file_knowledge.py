"""What the loop keeps in mind between requests: how stale the to-do list is, and which files the model has seen.

Pure folds of events; `State` holds the values. A file is known by the hash of the bytes that were read or written last.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from halocline.protocol.file_names import make_printable
from halocline.protocol.state.persistent import change_table
from halocline.protocol.values import Value

TODO_FILE = "todos.md"
"""The file of the to-do list, in a task's folder."""
MOST_NAMES = 20
"""Names of files that are said at once."""


class TodoAge(Value, frozen=True):
    """Requests since the list changed or the model was reminded of it, reminders since it changed, a mode's change."""

    requests: int = 0
    reminders: int = 0
    mode_changed: bool = False

    def reminded(self) -> "TodoAge":
        return TodoAge(reminders=self.reminders + 1)

    def requested(self) -> "TodoAge":
        return TodoAge(self.requests + 1, self.reminders)

    def switched(self) -> "TodoAge":
        return replace(self, mode_changed=True)


class KnownFile(Value, frozen=True):
    """A file as the task saw it last. `content` names its bytes as a blob is named; None: it was not there.

    `stale` means that it was changed by somebody else since the model read it, and the model was only told so.
    """

    content: str | None
    stale: bool = False


class SeenFile(Value, frozen=True):
    """A file that a call read whole or in part, and the hash of all its bytes."""

    path: str
    content: str


class ChangedFile(Value, frozen=True):
    """A file that is not as the model knows it. `by` is what the task itself ran meanwhile; empty for somebody else."""

    path: str
    content: str | None
    by: str = ""


Known = Mapping[str, KnownFile]


def note_read(known: Known, seen: Iterable[SeenFile]) -> Known:
    """The known files after some were read."""
    return change_table(known, {one.path: KnownFile(one.content) for one in seen})


def note_written(known: Known, path: str, content: str | None) -> Known:
    """The known files after the task wrote or removed one."""
    return change_table(known, {path: KnownFile(content)})


def note_told(known: Known, files: Iterable[ChangedFile]) -> Known:
    """The known files after the model was told of changes."""
    return change_table(known, {one.path: KnownFile(one.content, stale=not one.by) for one in files})


def list_names(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """The names, and how many more there are."""
    shown, more = [*map(make_printable, names[:most])], len(names) - most
    if more <= 0:
        return ", ".join(shown)
    return f"{', '.join(shown)} and {more} more" if shown else f"{len(names)} more"
