"""A power cut, for a process that a test starts for this: the state of a disk that kept only what was synced.

It is the strictest possible disk: a file has its content at its last sync, or none; it has its name only if its folder
and the folders above were synced after it was created. Real disks keep more but promise no more.
"""

import os
import stat
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from halocline.files import durable

Names = dict[str, int]


class Disk:
    """Records what is synced below a folder. `cut` creates the folder as the next start would find it."""

    def __init__(self, root: Path, synced: Callable[[Path], None] = lambda path: None) -> None:
        """`synced` is called for every file and folder just after its sync."""
        self._root = root
        self._synced = synced
        self._kept: dict[int, bytes | Names] = {}
        self._names: dict[int, str] = {}

    def install(self) -> None:
        """Record everything that this process syncs from now on."""
        for name in ("fsync", "fdatasync"):
            setattr(os, name, self._watch(getattr(os, name)))
        durable.sync_file_system = self._sync_all

    def _watch(self, real: Callable[[int], None]) -> Callable[[int], None]:
        @wraps(real)
        def watched(file: int) -> None:
            real(file)
            path = Path(os.readlink(f"/proc/self/fd/{file}"))
            if path == self._root or self._root in path.parents:
                self._keep(file)
                self._names[os.fstat(file).st_ino] = path.name
                self._synced(path)

        return watched

    def _sync_all(self, file: int) -> None:
        """Stand in for a sync of the whole file system; the root is all that is looked at."""
        for place, folders, files in os.walk(self._root, topdown=False):
            for name in (*files, *folders, "."):
                if not (path := Path(place, name)).is_socket():
                    durable.sync_path(path)

    def _keep(self, file: int) -> None:
        found = os.fstat(file)
        if stat.S_ISDIR(found.st_mode):
            with os.scandir(file) as entries:
                self._kept[found.st_ino] = {entry.name: entry.inode() for entry in entries}
        else:
            with open(f"/proc/self/fd/{file}", "rb") as again:
                self._kept[found.st_ino] = again.read()

    def list_kept(self, name: str) -> list[bytes]:
        """Return what survives of all files that had this name when they were synced."""
        return [
            held for inode, held in self._kept.items() if isinstance(held, bytes) and self._names.get(inode) == name
        ]

    def cut(self, place: Path) -> None:
        """Write what would be left of the root to a new folder."""
        place.mkdir(parents=True)
        self._lay(self._root.stat().st_ino, place)

    def _lay(self, folder: int, place: Path) -> None:
        names: Any = self._kept.get(folder, {})
        for name, inode in names.items():
            match self._kept.get(inode):
                case dict():
                    (place / name).mkdir()
                    self._lay(inode, place / name)
                case held:
                    (place / name).write_bytes(held or b"")
