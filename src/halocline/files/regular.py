"""Read regular files whole, up to a bound: the one reader of files that a repository or home contains.

Opening a named pipe without a writer hangs, and a device never ends, so neither is opened. Links are followed; use
`files.opening` where they must not be.
"""

import os
import stat
from errno import EFBIG, EINVAL, ENXIO
from io import BufferedReader
from pathlib import Path

READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""O_NONBLOCK: opening a pipe without a writer would hang forever."""
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
_BLOCKING = frozenset({stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK})
_CHUNK = 1 << 18
_MOST = 16 << 20
"""Largest file, in bytes, that a person or program plausibly writes as a whole."""


class NotRegular(OSError):
    """Not a regular file. Its text says what it is and what to do."""

    def __str__(self) -> str:
        return self.strerror or ""


class TooLarge(OSError):
    """A file exceeds the size limit. Its text says so."""

    def __str__(self) -> str:
        return self.strerror or ""


def read_regular(path: str | Path, most: int = _MOST) -> bytes:
    """Read the whole file. Raises OSError: it is missing, not a regular file, or larger than `most` bytes."""
    data = read_beginning(path, most + 1)
    if len(data) > most:
        raise TooLarge(EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def read_beginning(path: str | Path, most: int) -> bytes:
    """Read the first `most` bytes of a file. Raises OSError: it is missing or not a regular file."""
    with open_regular(path) as file:
        return read_from(file.fileno(), most)


def open_regular(path: str | Path) -> BufferedReader:
    """Open the file for reading. Raises OSError: it is missing or not a regular file."""
    return open(_open_file(path), "rb")


def _open_file(path: str | Path) -> int:
    _require_regular(os.stat(path), path)  # opening a device may have side effects
    try:
        fd = os.open(path, READING)
    except OSError as error:
        if error.errno == ENXIO:  # replaced by a socket since the check
            raise NotRegular(EINVAL, f"it is {describe_kind(stat.S_IFSOCK)}", str(path)) from None
        raise
    try:
        _require_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_from(fd: int, limit: int) -> bytes:
    """Read the first `limit` bytes from a descriptor, which stays open."""
    with open(fd, "rb", buffering=0, closefd=False) as file:
        chunks: list[bytes] = []
        while limit > 0 and (chunk := file.read(min(limit, _CHUNK))):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)


def why_not_regular(path: str | Path) -> str:
    """Say why a path is not a regular file; empty when it is one, or when nothing is there."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return "" if stat.S_ISREG(mode) else f"it is {describe_kind(mode)}"


def describe_kind(mode: int) -> str:
    """Say what is there instead of a regular file, and what to do about it."""
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    return f"{kind}, not a regular file; move it away or delete it"


def is_blocking(mode: int) -> bool:
    """True if a program that reads it may block or read forever."""
    return stat.S_IFMT(mode) in _BLOCKING


def _require_regular(found: os.stat_result, path: str | Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(EINVAL, f"it is {describe_kind(found.st_mode)}", str(path))
