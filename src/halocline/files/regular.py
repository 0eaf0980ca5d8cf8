"""Reads regular files whole, up to a bound: the one reader of files that a repository or a home holds.

A named pipe without a writer would hang whoever opens it, and a device never ends, so neither is opened. Links are
followed; who must not follow them opens by `files.opening`.
"""

import os
import stat
from errno import EFBIG, EINVAL, ENXIO
from io import BufferedReader
from pathlib import Path

READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""O_NONBLOCK: opening a pipe that nobody writes to would hang for ever."""
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
"""Bytes of a file that a person or a program writes in one piece; more is a mistake."""


class NotRegular(OSError):
    """What is there is no regular file. As a text it says what it is, and what to do."""

    def __str__(self) -> str:
        return self.strerror or ""


class TooLarge(OSError):
    """A file is larger than it may be; as a text it says so."""

    def __str__(self) -> str:
        return self.strerror or ""


def read_regular(path: str | Path, most: int = _MOST) -> bytes:
    """The whole file. Raises OSError: it is not there, no regular file, or larger than `most` bytes."""
    data = read_beginning(path, most + 1)
    if len(data) > most:
        raise TooLarge(EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def read_beginning(path: str | Path, most: int) -> bytes:
    """The first `most` bytes of a file. Raises OSError: it is not there, or no regular file."""
    with open_regular(path) as file:
        return read_from(file.fileno(), most)


def open_regular(path: str | Path) -> BufferedReader:
    """The file, open to read. Raises OSError: it is not there, or no regular file."""
    return open(_open_file(path), "rb")


def _open_file(path: str | Path) -> int:
    _require_regular(os.stat(path), path)  # to open a device may do something
    try:
        fd = os.open(path, READING)
    except OSError as error:
        if error.errno == ENXIO:  # a socket that was put there since
            raise NotRegular(EINVAL, f"it is {describe_kind(stat.S_IFSOCK)}", str(path)) from None
        raise
    try:
        _require_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_from(fd: int, limit: int) -> bytes:
    """The first `limit` bytes of what is open; the descriptor stays so."""
    with open(fd, "rb", buffering=0, closefd=False) as file:
        chunks: list[bytes] = []
        while limit > 0 and (chunk := file.read(min(limit, _CHUNK))):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)


def why_not_regular(path: str | Path) -> str:
    """What something that is no regular file is; empty for one, and for nothing."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return "" if stat.S_ISREG(mode) else f"it is {describe_kind(mode)}"


def describe_kind(mode: int) -> str:
    """What is there instead of a regular file, and what to do about it."""
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    return f"{kind}, not a regular file; move it away or delete it"


def is_blocking(mode: int) -> bool:
    """Whether a program that opens it to read may wait or read for ever."""
    return stat.S_IFMT(mode) in _BLOCKING


def _require_regular(found: os.stat_result, path: str | Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(EINVAL, f"it is {describe_kind(found.st_mode)}", str(path))
