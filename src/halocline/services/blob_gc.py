"""Find blobs that are no longer needed: no log references them, and no open task can be about to.

A task writes a blob before it references it, and writing renews the blob's age. So an unreferenced blob that is older
than every open task and than the scan of the logs is free. `drop_blob` checks the age again while no task can write it.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from halocline.checkpoints.repository.stores import disk_size
from halocline.store.blobs import drop_blob
from halocline.store.paths import Home
from halocline.task import lock

_BLOB = re.compile(rb"sha256:([0-9a-f]{64})")
_CHUNK = 1 << 20
_COARSE = 1.0
"""Seconds by which a file may look older than it is: the resolution of coarse time stamps."""


def task_folders(home: Home) -> Iterator[Path]:
    """Yield the folders of all tasks, including the trash and running imports."""
    for place in (home.tasks, home.trash, home.root / "importing"):
        yield from place.glob("*")


def named_in(folder: Path) -> Iterator[str]:
    """Yield the blobs that the logs in a folder reference, each as often as it is referenced."""
    for log in folder.rglob("*.jsonl"):
        with open(log, "rb") as file:
            rest = b""
            while chunk := file.read(_CHUNK):
                for match in _BLOB.finditer(rest + chunk):
                    yield match[1].decode()
                rest = chunk[-80:]


def in_nobodys_hands(home: Home, now: float) -> float:
    """Return the time (Unix seconds) before which an unreferenced blob is free, if the logs are scanned from `now`."""
    opened = [lock_at for folder in task_folders(home) if (lock_at := _open_since(folder)) is not None]
    return min([now, *opened, *([0.0] if any(at > now for at in opened) else [])]) - _COARSE


def free_blobs(home: Home, names: Iterable[str], now: float) -> int:
    """Remove those of these blobs that no task needs; return the bytes freed."""
    before, left = in_nobodys_hands(home, now), set(names)
    for folder in task_folders(home):
        if not left:
            break
        left.difference_update(named_in(folder))
    sizes = {path: disk_size(path) for path in (home.blobs / name[:2] / name[2:] for name in left)}
    return sum(size for path, size in sizes.items() if drop_blob(path, before))


def _open_since(folder: Path) -> float | None:
    """Return when a task was opened (Unix seconds); None if no process has it open."""
    try:
        return (folder / lock.LOCK_NAME).stat().st_mtime if lock.read_owner(folder) is not None else None
    except FileNotFoundError:  # closed in between
        return None
