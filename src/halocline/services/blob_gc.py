"""Which blobs nobody needs any more: no log names them, and no open task can be about to.

A task that will name a blob has put it first, and putting makes it new. So what is older than every open task, and than
the look at the logs, is in nobody's hands; `drop` looks at its age again, while nobody can put it.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from halocline.checkpoints.store.stores import disk_size
from halocline.store.blobs import drop_blob
from halocline.store.paths import Home
from halocline.task import lock

_BLOB = re.compile(rb"sha256:([0-9a-f]{64})")
_CHUNK = 1 << 20
_COARSE = 1.0
"""Seconds by which a file may look older than it is."""


def task_folders(home: Home) -> Iterator[Path]:
    """Those of all tasks: that are there, in the trash, and being taken over."""
    for place in (home.tasks, home.trash, home.root / "importing"):
        yield from place.glob("*")


def named_in(folder: Path) -> Iterator[str]:
    """The blobs that the logs in a folder name, each as often as it is named."""
    for log in folder.rglob("*.jsonl"):
        with open(log, "rb") as file:
            rest = b""
            while chunk := file.read(_CHUNK):
                for match in _BLOB.finditer(rest + chunk):
                    yield match[1].decode()
                rest = chunk[-80:]


def in_nobodys_hands(home: Home, now: float) -> float:
    """The moment (Unix seconds) before which a blob must have been put to be free, as the logs are from `now` on."""
    opened = [lock_at for folder in task_folders(home) if (lock_at := _open_since(folder)) is not None]
    return min([now, *opened, *([0.0] if any(at > now for at in opened) else [])]) - _COARSE


def free_blobs(home: Home, names: Iterable[str], now: float) -> int:
    """Remove those of these blobs that no task needs; gives their bytes."""
    before, left = in_nobodys_hands(home, now), set(names)
    for folder in task_folders(home):
        if not left:
            break
        left.difference_update(named_in(folder))
    sizes = {path: disk_size(path) for path in (home.blobs / name[:2] / name[2:] for name in left)}
    return sum(size for path, size in sizes.items() if drop_blob(path, before))


def _open_since(folder: Path) -> float | None:
    """When the task of a folder was opened; None when no process has it open."""
    try:
        return (folder / lock.LOCK_NAME).stat().st_mtime if lock.read_owner(folder) is not None else None
    except FileNotFoundError:  # it was closed while it was looked at
        return None
