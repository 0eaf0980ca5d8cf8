"""Makes files and names survive a power cut: the one place that asks the disk to keep something.

A file's content and its name are two things: the name is kept by syncing its folder. Everything here blocks.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import EDQUOT, EINVAL, ENOSPC, ENOTSUP
from itertools import islice
from typing import TypeVar

FEW = 64
"""Most files that are synced one by one; beyond that, syncing the whole file system is quicker."""
_UNSUPPORTED = frozenset({EINVAL, ENOTSUP})
"""Some file systems cannot sync folders: they keep names in another way, or not at all."""
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC

_FULL = frozenset({ENOSPC, EDQUOT})
_ROOM = 2**20
"""Bytes that a disk has at least if it is not full."""
Path = str | os.PathLike[str]
T = TypeVar("T")


def tells_full_disk(error: Exception, *folders: Path) -> bool:
    """True if an error, or what a program said in it, is that there is no room on the disk.

    A program may not say why it failed: then it is so if the disk of one of these folders is full now.
    """
    if isinstance(error, OSError):
        return error.errno in _FULL
    return any(os.strerror(number) in str(error) for number in _FULL) or any(map(_is_full, folders))


def _is_full(folder: Path) -> bool:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize < _ROOM


def sync_path(path: Path) -> None:
    """Make the content of a file, or the names in a folder, survive a power cut. Raises OSError."""
    file = os.open(path, _READING)
    try:
        _sync_opened(file)
    finally:
        os.close(file)


def _sync_opened(file: int) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def sync_paths(paths: Iterable[Path]) -> None:
    """Do the same for files and folders of one file system; what is gone or cannot be opened is skipped.

    Raises OSError: the disk may have lost something.
    """
    sync_opened(paths, lambda path: os.open(path, _READING))


def sync_opened(files: Iterable[T], open_file: Callable[[T], int]) -> None:
    """Do the same for files that `open_file` opens; it returns a descriptor, which is closed here."""
    few = list(islice(files := iter(files), FEW))
    whole = next(files, None) is not None
    for one in few:
        try:
            file = open_file(one)
        except OSError:
            continue
        try:
            if whole:
                sync_file_system(file)
                return
            _sync_opened(file)
        finally:
            os.close(file)


def sync_file_system(file: int) -> None:
    """Sync everything on the file system of an open file or folder. Raises OSError."""
    import ctypes  # only what is large needs it

    sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if sync is None:
        os.sync()
    elif sync(file):
        raise OSError(ctypes.get_errno(), "the file system could not be synced")


def sync_below(folder: Path) -> None:
    """Sync a folder and everything below it, with whatever else is on its file system. Raises OSError."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_file_system(file)
    finally:
        os.close(file)


def write_whole(path: os.PathLike[str], data: bytes, mode: int = 0o600) -> None:
    """Replace the file's content, durably. Raises OSError: the file is unchanged, or its new name may not last."""
    folder, name = os.path.split(os.fspath(path))
    temporary = os.path.join(folder, f".{name.lstrip('.')}-{os.urandom(6).hex()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)
        raise
    sync_path(folder or ".")
