"""Marks of folders, which the file system gives and a rename keeps: the one way to know a renamed folder again.

Nothing in a folder decides, so no content of a repository can claim to be another folder. A copy has another mark, and
so has a new folder that got the number of a deleted one: the mark has the number's generation or time of birth as well.
"""

import fcntl
import os
import sys

_GENERATION = 0x8008_7601 if sys.maxsize > 2**32 else 0x8004_7601
"""FS_IOC_GETVERSION of Linux: ext4, XFS, Btrfs and F2FS answer it."""


def read_mark(folder: str | os.PathLike[str]) -> str:
    """Return the mark of a folder; empty if there is none, or its file system cannot tell folders apart for certain."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        found = os.fstat(fd)
        birth = _read_birth(fd, found)
        return f"{os.fstatvfs(fd).f_fsid or found.st_dev:x}-{found.st_ino:x}-{birth}" if birth else ""
    except OSError:
        return ""
    finally:
        os.close(fd)


def is_renamed(place: str, mark: str) -> bool:
    """Return True if the folder with this mark, once at `place`, is no longer there.

    A link that leads from there to it does not count as the folder.
    """
    return bool(mark) and (read_mark(place) != mark or os.path.realpath(place) != place)


def _read_birth(fd: int, found: os.stat_result) -> str:
    """Return what tells a folder from earlier ones with its number; empty if the file system has nothing like that."""
    if born := getattr(found, "st_birthtime", 0.0):
        return float(born).hex()
    if sys.platform != "linux":
        return ""
    generation = int.from_bytes(fcntl.ioctl(fd, _GENERATION, bytes(8))[:4], sys.byteorder)
    return f"{generation:x}" if generation else ""
