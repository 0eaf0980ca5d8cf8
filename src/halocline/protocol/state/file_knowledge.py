"""The files that the model has seen.

Pure folds of events; `FilesState` holds the values. A file is identified by the hash of the bytes last read or written.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.events.tool_calls import SeenFile
from halocline.protocol.file_names import make_printable
from halocline.protocol.state.persistent import change_table
from halocline.protocol.values import Value

TODO_FILE = "todos.md"
"""File name of the to-do list in a task's folder."""
MOST_NAMES = 20
"""Maximum file names in one message."""


class KnownFile(Value, frozen=True):
    """A file as the task last saw it. `content` is the hash of its bytes, as for blobs; None: it did not exist.

    `stale` means that someone else changed it since the model read it, and the model only knows that it changed.
    `restored` means that a person took changes back, and the model was not told what it holds.
    """

    content: str | None
    stale: bool = False
    restored: bool = False


Known = Mapping[str, KnownFile]


def note_read(known: Known, seen: Iterable[SeenFile]) -> Known:
    """Return the known files after some were read."""
    return change_table(known, {one.path: KnownFile(one.content) for one in seen})


def note_written(known: Known, path: str, content: str | None) -> Known:
    """Return the known files after the task wrote or removed one."""
    return change_table(known, {path: KnownFile(content)})


def note_reported(known: Known, files: Iterable[ChangedFile]) -> Known:
    """Return the known files after changes were reported to the model."""
    return change_table(known, {one.path: KnownFile(one.content, stale=not one.by) for one in files})


def note_restored(known: Known, paths: Iterable[str]) -> Known:
    """Return the known files after a person restored some."""
    there = {path: known[path] for path in paths if path in known}
    return change_table(known, {path: replace(file, restored=True) for path, file in there.items()})


def list_names(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Join up to `most` names, and say how many more there are."""
    shown, more = [*map(make_printable, names[:most])], len(names) - most
    if more <= 0:
        return ", ".join(shown)
    return f"{', '.join(shown)} and {more} more" if shown else f"{len(names)} more"
