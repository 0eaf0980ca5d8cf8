"""Makes a store survive a power cut, before anything refers to what was written into it.

Git writes into a store as well as we do, so no list of unsynced files would be complete. Files that changed since the
last sync are found by their times.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from halocline.files.durable import sync_paths
from halocline.files.stamp import SETTLED, SETTLED_FINE

_MARK = "synced"
"""File whose time is the beginning of the last sync."""
_ABOVE = ("objects", "objects/info", "info", "")
"""Folders of a store besides those of objects, relative to it; those below come first."""
_REBUILT = frozenset({_MARK, f"{_MARK}.new", "index", "index.lock", "unread", "garbage"})
"""Files that are made again when they are missing."""


def sync_store(store: Path) -> None:
    """Make all objects and the configuration of a store survive a power cut. Raises OSError."""
    mark, new = f"{store}/{_MARK}", f"{store}/{_MARK}.new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        began = os.stat(file.fileno()).st_mtime_ns
    since = _read_since(mark, began)
    changed = [*_list_changed(str(store), since)]
    # What has a name is synced before its folder, and a new store's own name last.
    sync_paths(changed if since else [*changed, store.parent, store.parent.parent])
    os.replace(new, mark)


def _read_since(mark: str, now: int) -> int:
    """Return the time from which on files may not be synced, in nanoseconds; 0: any."""
    try:
        last = os.stat(mark).st_mtime_ns
    except FileNotFoundError:
        return 0
    # A clock that was set back says nothing.
    return max(0, last - (SETTLED_FINE if last % 1_000_000 else SETTLED)) if last <= now else 0


def _list_changed(store: str, since: int) -> Iterator[str]:
    """Yield the files of a store that changed, then the folders whose names changed."""
    fans = [f"objects/{name}" for name in os.listdir(f"{store}/objects") if len(name) == 2]
    folders: list[str] = []
    # Single objects are deleted once a pack has them, so the names of packs are synced first.
    for folder in ("objects/pack", *fans, *_ABOVE):
        place = os.path.join(store, folder)
        with suppress(FileNotFoundError, NotADirectoryError):
            if os.stat(place).st_mtime_ns >= since:
                folders.append(place)
                yield from _list_files(place, since)
    yield from folders


def _list_files(folder: str, since: int) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.name not in _REBUILT:
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_ctime_ns >= since:
                        yield entry.path
