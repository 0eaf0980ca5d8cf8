"""Files of this machine. What may take time runs in a thread; a write is whole or did not happen."""

import asyncio
import os
import stat
from contextlib import suppress
from errno import EACCES, EINVAL
from pathlib import Path

from halocline.ports.host import FileChangedOutside, FileInfo

_CHUNK = 1 << 18
_SMALL = 1 << 16


class LocalFiles:
    """Fulfils `ports.host.Files`. A look and a small file are not worth a thread, which costs many times more."""

    async def info(self, path: Path) -> FileInfo | None:
        return _info(path)

    async def read(self, path: Path, limit: int) -> bytes:
        found = _info(path)
        if found is not None and found.is_file and 0 < found.size <= _SMALL:
            return _read(path, limit)
        return await asyncio.to_thread(_read, path, limit)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        await asyncio.to_thread(_write, path, data, expected)

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        return await asyncio.to_thread(_list, path)


def _info(path: Path) -> FileInfo | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileInfo(found.st_size, stat.S_ISREG(found.st_mode), stat.S_ISDIR(found.st_mode), found.st_mtime_ns)


def _list(path: Path) -> list[tuple[str, bool]]:
    with os.scandir(path) as entries:
        return sorted((entry.name, entry.is_dir()) for entry in entries)


def _read(path: Path, limit: int) -> bytes:
    # O_NONBLOCK: opening a pipe that nobody writes to would hang for ever.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(fd, "rb", buffering=0) as file:
        _require_regular(os.fstat(fd), path)
        chunks: list[bytes] = []
        while limit > 0 and (chunk := file.read(min(limit, _CHUNK))):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)


def _require_regular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(EINVAL, "not a regular file (a folder, device, pipe or socket)", str(path))


def _write(path: Path, data: bytes, expected: bytes | None) -> None:
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    replaced = _replaceable(target)
    temporary = target.with_name(f".halo-{os.urandom(6).hex()}.tmp")
    # No fsync: a killed process loses nothing that was renamed; only a machine that dies could, and each would cost ms.
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(fd, "wb", buffering=0) as file:
            _write_all(fd, data)
            _take_over(file.fileno(), replaced)
        if _content(target) != expected:
            raise FileChangedOutside(str(path))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _replaceable(target: Path) -> os.stat_result | None:
    """What is there now. Renaming would get round a file's own write protection, so that is asked for here."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    _require_regular(found, target)
    if not os.access(target, os.W_OK):
        raise PermissionError(EACCES, "write-protected", str(target))
    return found


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _take_over(fd: int, replaced: os.stat_result | None) -> None:
    """Give the new file the owner and mode of the one it replaces; without the right to, the owner changes."""
    if replaced is None:
        return
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, replaced.st_uid, replaced.st_gid)
    os.fchmod(fd, stat.S_IMODE(replaced.st_mode))


def _content(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
