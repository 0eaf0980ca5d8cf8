"""Reads the files of a workspace for its store: opened below it, component by component, so that no link is followed.

Git itself opens none of them to keep what it holds: a folder that is swapped for a link while git walks through it
would lead it outside.
"""

import os
import stat
from errno import EFBIG, EINVAL, ELOOP, ENOENT, ENOTDIR
from types import TracebackType
from typing import Self

from halocline.protocol.values import Value

LINK, PROGRAM, PLAIN = b"120000", b"100755", b"100644"
"""The modes of what is kept, as a tree writes them."""
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# O_NONBLOCK: opening a pipe that nobody writes to would hang for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Also of a link on the way, or put in the place of a file since it was looked at.
_NOT_BELOW = (ENOENT, ENOTDIR, ELOOP)


class Kept(Value, frozen=True):
    """The contents of a file; `mode` is as a tree writes it, `changed_at` when it became so, in nanoseconds."""

    content: bytes
    mode: bytes
    changed_at: int = 0


class Reader:
    """Looks at and reads what lies below a folder, which is an absolute path without links. Use it in a `with`.

    Names in one order are quickest: the folder of the last one stays open. What a link on the way leads to is not
    there. Raises OSError for what is there and cannot be looked at or read.
    """

    def __init__(self, root: str | bytes) -> None:
        self._root = top = os.open(b"/", _FOLDER)
        try:
            self._root = self._descend(os.fsencode(root))
        finally:
            os.close(top)
        self._last = (b"", os.dup(self._root))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._last[1])
        os.close(self._root)

    def look(self, path: bytes) -> os.stat_result | None:
        """Find out about a file, a link or a folder; None when there is none."""
        try:
            folder, name = self._opened(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NOT_BELOW:
                return None
            raise

    def may_read(self, path: bytes) -> bool:
        """Tell whether a file could be opened."""
        try:
            folder, name = self._opened(path)
            return os.access(name, os.R_OK, dir_fd=folder)
        except OSError:
            return False

    def read(self, path: bytes, most: int) -> Kept | None:
        """Read a file of at most `most` bytes, or a link; None when there is none, or a folder in its place."""
        try:
            folder, name = self._opened(path)
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                return Kept(os.readlink(name, dir_fd=folder), LINK, found.st_ctime_ns)
            if stat.S_ISDIR(found.st_mode):
                return None
            return _read(os.open(name, _FILE, dir_fd=folder), most)
        except OSError as error:
            if error.errno in _NOT_BELOW:
                return None
            raise

    def _opened(self, path: bytes) -> tuple[int, bytes]:
        """The folder of a file, open, and the file's name in it."""
        if b"/../" in b"/%b/" % path:
            raise OSError(ENOENT, os.strerror(ENOENT), path)
        place, _, name = path.rpartition(b"/")
        if place != self._last[0]:
            folder = self._descend(place)
            os.close(self._last[1])
            self._last = (place, folder)
        return self._last[1], name

    def _descend(self, place: bytes) -> int:
        folder = os.dup(self._root)
        for part in place.split(b"/"):
            if not part:
                continue
            try:
                inner = os.open(part, _FOLDER, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder


def _read(file: int, most: int) -> Kept:
    with open(file, "rb", buffering=0) as stream:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(EINVAL, "it is no plain file")
        at_once, content = min(info.st_size, most) + 1, bytearray()
        while len(content) <= most and (chunk := stream.read(at_once)):
            content += chunk
    if len(content) > most:
        raise OSError(EFBIG, os.strerror(EFBIG))
    return Kept(bytes(content), PROGRAM if info.st_mode & stat.S_IXUSR else PLAIN, info.st_ctime_ns)
