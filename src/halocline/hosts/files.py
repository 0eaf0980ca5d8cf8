"""Files of this machine. What may take time runs in a thread; a write is whole or did not happen."""

import asyncio
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from halocline.hosts.target import MayWrite, admitted, held, require_regular
from halocline.ports.host import FileChangedOutside, FileInfo, FileWrite, Mark

_CHUNK = 1 << 18
_SMALL = 1 << 16
_BEGINS, _ENDS = ".halo-", ".tmp"
"""How a file is named that will take another one's place."""


class LocalFiles:
    """Fulfils `ports.host.Files`. A look and a small file are not worth a thread, which costs many times more.

    `journals` is the folder that makes `write_all` safe from being killed; `may_write` is what `only` was given.
    """

    def __init__(self, journals: Path | None = None, may_write: MayWrite | None = None) -> None:
        self._journals = journals
        self._may_write = may_write
        self._since = time.time_ns()

    def only(self, may_write: MayWrite) -> "LocalFiles":
        return LocalFiles(self._journals, may_write)

    async def info(self, path: Path) -> FileInfo | None:
        return _info(path)

    async def read(self, path: Path, limit: int) -> bytes:
        found = _info(path)
        if found is not None and found.is_file and 0 < found.size <= _SMALL:
            return _read(path, limit)
        return await asyncio.to_thread(_read, path, limit)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        await asyncio.to_thread(_write, path, data, expected, self._may_write)

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        from halocline.hosts.transaction import change  # most tasks never change several files at once

        await asyncio.to_thread(change, self._journals, writes, self._may_write)

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        _tidy(cut_short, self._since)
        if self._journals is None or not self._journals.is_dir() or os.listdir(self._journals) in ([], ["lock"]):
            return []
        from halocline.hosts.transaction import mend  # every start comes here, and few find anything

        return await asyncio.to_thread(mend, self._journals)

    async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
        root = f"{folder}/"
        return [_mark(name if name[0] == "/" else root + name) for name in names]

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        return await asyncio.to_thread(_list, path)


def _info(path: Path) -> FileInfo | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileInfo(found.st_size, stat.S_ISREG(found.st_mode), stat.S_ISDIR(found.st_mode), found.st_mtime_ns)


def _mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Mark(found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def _list(path: Path) -> list[tuple[str, bool]]:
    with os.scandir(path) as entries:
        return sorted((entry.name, entry.is_dir()) for entry in entries)


def _read(path: Path, limit: int) -> bytes:
    # O_NONBLOCK: opening a pipe that nobody writes to would hang for ever.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(fd, "rb", buffering=0) as file:
        require_regular(os.fstat(fd), path)
        chunks: list[bytes] = []
        while limit > 0 and (chunk := file.read(min(limit, _CHUNK))):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)


def _write(path: Path, data: bytes, expected: bytes | None, may_write: MayWrite | None) -> None:
    with held(Path(admitted(os.path.realpath(path), may_write)), making_folders=True) as target:
        replaced = target.writable()
        temporary = f"{_BEGINS}{os.urandom(6).hex()}{_ENDS}"
        # No fsync: a killed process loses nothing that was renamed; only a machine that dies could, at the cost of ms.
        try:
            target.stage(temporary, data, replaced)
            if target.content() != expected:
                raise FileChangedOutside(str(path))
            target.replace(temporary)
        except BaseException:
            target.drop(temporary)
            raise


def _tidy(paths: Sequence[Path], since: int) -> None:
    """Remove what a write of these files left whose process died. One that another process makes now is younger."""
    for folder in {os.path.dirname(os.path.realpath(path)) for path in paths}:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(_BEGINS) and entry.name.endswith(_ENDS) and entry.stat().st_mtime_ns < since:
                    os.unlink(entry.path)
