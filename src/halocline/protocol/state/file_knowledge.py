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
_EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
MOST_NAMES = 20
"""Maximum file names in one message."""


class KnownFile(Value, frozen=True):
    """A file as the task last saw it. `content` is the hash of its bytes, as for blobs; None: it did not exist.

    `stale` means that someone else changed it since the model read it, and the model only knows that it changed.
    `restored` means that a person took changes back, and the model was not told what it holds. `unread`: the task
    changed a part of it, and the model never read the rest.
    """

    content: str | None
    stale: bool = False
    restored: bool = False
    unread: bool = False


Known = Mapping[str, KnownFile]


def note_read(known: Known, seen: Iterable[SeenFile]) -> Known:
    """Return the known files after some were read."""
    return change_table(known, {one.path: KnownFile(one.content) for one in seen})


def note_written(known: Known, path: str, before: str | None, content: str | None) -> Known:
    """Return the known files after the task wrote or removed one. Of one that is new or empty it knows all."""
    is_unread = known[path].unread if path in known else before not in (None, _EMPTY)
    return change_table(known, {path: KnownFile(content, unread=is_unread and content is not None)})


def note_reported(known: Known, files: Iterable[ChangedFile]) -> Known:
    """Return the known files after changes were reported to the model."""
    unread = {path for one in files if (path := one.path) in known and known[path].unread}
    return change_table(
        known, {one.path: KnownFile(one.content, not one.by, unread=one.path in unread) for one in files}
    )


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
