"""The journal of a restore: it says in a store what every file was and shall be, before the first one is changed.

While it is there, the change is not made. One that nobody can read is put aside with words: it stops no task.
"""

import os
import time
from contextlib import suppress
from pathlib import Path as File

import msgspec

from halocline.checkpoints.store.contents import sync_files
from halocline.checkpoints.store.index import Path
from halocline.checkpoints.store.repository import JOURNAL
from halocline.checkpoints.store.trees import Entry
from halocline.protocol import json_input
from halocline.protocol.values import Value


class Change(Value, frozen=True):
    """The change of one file, from `before` to `after`; None stands for no file."""

    path: Path
    before: Entry | None
    after: Entry | None


class Journal(Value, frozen=True):
    """The changes of one restore, and the name that its files have while they are written, new each time.

    `parts` are the stores, each with its workspace, that change together, when these are several. In the first of them
    `is_made` says that all is made.
    """

    temporary: str
    changes: tuple[Change, ...]
    parts: tuple[tuple[str, str], ...] = ()
    is_made: bool = False


def write_journal(store: File, journal: Journal) -> None:
    """Write it, so that it outlives a loss of power."""
    new = store / f"{JOURNAL}.new"
    with open(new, "wb") as file:
        file.write(msgspec.json.encode(journal))
        file.flush()
        os.fsync(file.fileno())
    new.replace(store / JOURNAL)
    sync_files([store])


def read_journal(store: File) -> Journal | None:
    """Read it; None when there is none, and when it cannot be read."""
    with suppress(OSError, msgspec.DecodeError):
        return json_input.decode((store / JOURNAL).read_bytes(), type=Journal)
    return None


def remove_journal(store: File) -> None:
    """Say that the change is over."""
    (store / JOURNAL).unlink(missing_ok=True)
    sync_files([store])  # that of the first store must not be lost before those of the others


def put_journal_aside(store: File) -> str:
    """Rename a journal that nobody can read; says so to a person. Empty when there is none."""
    if not os.path.lexists(store / JOURNAL):
        return ""
    aside = store / f"{JOURNAL}.damaged-{time.time():.3f}"
    with suppress(OSError):
        (store / JOURNAL).rename(aside)
    return (
        "A restore was cut short when Halocline was killed, and its journal cannot be read, so it was not taken back: "
        "some files may be as before it, others as after it. `halo checkpoints diff` shows what differs from a "
        f"checkpoint. The journal was kept as {aside}."
    )
