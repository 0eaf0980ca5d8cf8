"""The journal of a restore: it records in a store every file's state before and after, before any file is changed.

While it is there, the change is not committed. An unreadable journal is set aside with a message: it stops no task.
"""

import os
import time
from contextlib import suppress
from pathlib import Path as File

import msgspec

from halocline.checkpoints.index.index import Path
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.unreported import note_undone
from halocline.files.durable import sync_path, write_whole
from halocline.protocol import json_input
from halocline.protocol.values import Value


class Change(Value, frozen=True):
    """The change of one file from `before` to `after`; None means no file."""

    path: Path
    before: Entry | None
    after: Entry | None


class Journal(Value, frozen=True):
    """The changes of one restore, and the name of its temporary files, unique to it.

    `parts` are the stores that change together, each with its workspace, if there are several. In the first one's
    journal, `is_made` means that the change is committed.
    """

    temporary: str
    changes: tuple[Change, ...]
    parts: tuple[tuple[str, str], ...] = ()
    is_made: bool = False


def write_journal(store: File, journal: Journal) -> None:
    """Write it durably, safe against a power cut."""
    write_whole(store / JOURNAL, msgspec.json.encode(journal))


def read_journal(store: File) -> Journal | None:
    """Read it; None if there is none or it cannot be read."""
    with suppress(OSError, msgspec.DecodeError):
        return json_input.decode((store / JOURNAL).read_bytes(), type=Journal)
    return None


def remove_journal(store: File) -> None:
    """Remove it: the change is over."""
    (store / JOURNAL).unlink(missing_ok=True)
    sync_path(store)  # the first store's must not disappear before the others'


def put_journal_aside(store: File) -> None:
    """Rename an unreadable journal, if there is one, and note a message for the user."""
    if not os.path.lexists(store / JOURNAL):
        return
    aside = store / f"{JOURNAL}.damaged-{time.time():.3f}"
    note_undone(
        store,
        "A restore was interrupted when Halocline was killed, and its journal cannot be read, so it was not undone: "
        "some files may be as before it, others as after it. `halo checkpoints diff` shows what differs from a "
        f"checkpoint. The journal was kept as {aside}.",
    )
    with suppress(OSError):
        (store / JOURNAL).rename(aside)
