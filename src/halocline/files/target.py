"""One file to write, held by its open folder, so that no folder can be swapped for a link between check and write.

A path is resolved once. Its folder is then opened component by component without following links, and every operation
is relative to that descriptor.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, ELOOP
from pathlib import Path

from halocline.files.opening import READING, open_folder, open_folder_below, require_regular
from halocline.protocol.file_locks import try_lock

MayWrite = Callable[[str], bool]


class Target:
    """`folder` is a descriptor; `path` is for messages."""

    __slots__ = ("folder", "name", "path")

    def __init__(self, path: Path, folder: int) -> None:
        self.path = path
        self.folder = folder
        self.name = path.name

    def find(self) -> os.stat_result | None:
        """Stat what is there, of any kind; None for nothing. Raises OSError."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def look(self) -> os.stat_result | None:
        """Stat the file; None for nothing. Raises OSError for anything but a regular file."""
        found = self.find()
        if found is None:
            return None
        if stat.S_ISLNK(found.st_mode):
            raise OSError(ELOOP, "a symbolic link is in the way", str(self.path))
        require_regular(found, self.path)
        return found

    def writable(self) -> os.stat_result | None:
        """Do the same, and require write permission: a rename would bypass a file's own write protection."""
        found = self.look()
        if found is not None and not os.access(self.name, os.W_OK, dir_fd=self.folder):
            raise PermissionError(EACCES, "write-protected", str(self.path))
        return found

    def content(self, name: str = "") -> bytes | None:
        """Read the current content; None for nothing."""
        try:
            fd = os.open(name or self.name, READING, dir_fd=self.folder)
        except FileNotFoundError:
            return None
        with open(fd, "rb") as file:
            require_regular(os.fstat(fd), self.path)
            return file.read()

    def stage(
        self, name: str, data: bytes, like: os.stat_result | None, *, sync: bool = False, runs: bool | None = None
    ) -> None:
        """Write a new file beside it, with the owner and mode of `like`; `runs` sets or clears the executable bits."""
        with self.staged(name, data, like, sync=sync, runs=runs):
            pass

    @contextmanager
    def staged(
        self, name: str, data: bytes, like: os.stat_result | None, *, sync: bool = False, runs: bool | None = None
    ) -> Iterator[None]:
        """Do the same, and lock it meanwhile: another process may remove what no living one has locked."""
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=self.folder)
        with open(fd, "wb", buffering=0):
            with suppress(OSError):  # a file system without locks
                try_lock(fd)
            write_whole(fd, data)
            _take_over(fd, like)
            if runs is not None:
                _let_run(fd, runs)
            if sync:
                os.fsync(fd)
            yield

    def keep(self, name: str, *, sync: bool = False) -> None:
        """Hard-link the file to a second name beside it, or copy it where links are not supported."""
        try:
            os.link(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except OSError:
            found = self.look()
            if found is None:  # deleted meanwhile
                raise
            self.stage(name, self.content() or b"", found, sync=sync)
            os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=self.folder)

    def replace(self, name: str) -> None:
        """Atomically put a file from beside it in its place."""
        os.replace(name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def is_same(self, name: str) -> bool:
        """True if a file beside it is the same inode."""
        try:
            one, other = (os.stat(each, dir_fd=self.folder, follow_symlinks=False) for each in (name, self.name))
        except FileNotFoundError:
            return False
        return os.path.samestat(one, other)

    def appear(self, name: str) -> None:
        """Do the same, but raise FileExistsError instead of replacing anything."""
        try:
            os.link(name, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            self.replace(name)
        else:
            self.drop(name)

    def drop(self, name: str = "") -> None:
        """Remove it, or a file beside it, if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(name or self.name, dir_fd=self.folder)


def is_locked(path: str) -> bool:
    """True if a process holds the lock of `Target.staged` on a file. Raises OSError."""
    fd = os.open(path, READING)
    try:
        return not try_lock(fd)
    finally:
        os.close(fd)


def admit_path(path: str, may_write: MayWrite | None) -> str:
    """Return a resolved path if it may be written. Raises OSError."""
    if may_write is not None and not may_write(path):
        raise OSError(ELOOP, "it now leads elsewhere than when it was checked", path)
    return path


@contextmanager
def hold_target(path: Path, *, making_folders: bool = False) -> Iterator[Target]:
    """Hold the file that a resolved path names. Raises OSError when its folder is missing or reached through a link."""
    folder = open_folder(str(path.parent), making=making_folders)
    try:
        yield Target(path, folder)
    finally:
        os.close(folder)


@contextmanager
def held_below(root: int, path: str, *, making_folders: bool = False) -> Iterator[Target]:
    """Do the same for a file below an open folder."""
    folder = open_folder_below(root, path.rpartition("/")[0], making=making_folders)
    try:
        yield Target(Path(path), folder)
    finally:
        os.close(folder)


def write_whole(fd: int, data: bytes) -> None:
    """Write all bytes, in as many calls as it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _take_over(fd: int, like: os.stat_result | None) -> None:
    """Give the new file the owner and mode of the one it replaces; the owner is skipped where that is not permitted."""
    if like is None:
        return
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, like.st_uid, like.st_gid)
    os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _let_run(fd: int, runs: bool) -> None:
    """Make a file executable for everyone who may read it, or for no one."""
    mode = stat.S_IMODE(os.fstat(fd).st_mode)
    os.fchmod(fd, mode | (mode & 0o444) >> 2 if runs else mode & ~0o111)
