"""Files of the administrator: they count only if no other user can change what they say, or what is in their place.

What must stay true: nothing that is there, and be it a broken link, counts as if there were nothing.
"""

import os
import stat
from collections.abc import Iterator
from errno import ELOOP, EPERM
from pathlib import Path

from halocline.files.regular import open_regular

_MOST_LINKS = 40


class Unusable(OSError):
    """A file of the administrator that is there, but cannot be read or trusted. Its text is a sentence that says so."""

    def __str__(self) -> str:
        return self.strerror or ""


def find_managed_file(path: Path) -> bool:
    """True if the administrator's file is there and can be read, False if nothing is.

    Raises Unusable: it cannot be read, or is a broken link, or users other than root can change or replace it: the file
    itself, or what lies on the way to it, also behind links.
    """
    try:
        if not _is_there(path):
            return False
        is_trusted = only_root_writes(path)
        open_regular(path).close()
    except OSError as error:
        raise Unusable(error.errno, f"Cannot read {path}: {error.strerror}.") from error
    if not is_trusted:
        raise Unusable(EPERM, f"Users other than root can write to {path}, or replace it, so it cannot be trusted.")
    return True


def only_root_writes(path: Path) -> bool:
    """True if only root can change a file or folder, and all on the way to it. Raises OSError if it is not there."""
    *steps, last = _list_steps(path)
    holder = os.path.realpath(path.parent), os.path.dirname(os.path.realpath(path))
    return _is_roots(last) and all(_is_roots(place, may_be_shared=place not in holder) for place in steps)


def _is_there(path: Path) -> bool:
    """True if something is at a path. Raises OSError if that cannot be told: a folder on the way is a broken link."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        for folder in path.parents:
            if os.path.lexists(folder):
                os.stat(folder)
                return False
    return True


def _list_steps(path: Path) -> Iterator[str]:
    """Yield all folders and links that decide what a path leads to, and then that itself."""
    at, links = "/", 0
    names = [*path.absolute().parts[1:]]
    yield at
    while names:
        name = names.pop(0)
        place = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        if stat.S_ISLNK(os.lstat(place).st_mode):
            if (links := links + 1) > _MOST_LINKS:
                raise OSError(ELOOP, os.strerror(ELOOP), str(path))
            target = Path(os.readlink(place))
            names[:0] = target.parts[1:] if target.is_absolute() else target.parts
            at = "/" if target.is_absolute() else at
        else:
            at = place
        yield place


def _is_roots(place: str, *, may_be_shared: bool = False) -> bool:
    """True if only root may write to it. In a shared folder, as `/tmp` is, no one else replaces what is root's."""
    found = os.lstat(place)
    if found.st_uid:
        return False
    if stat.S_ISLNK(found.st_mode) or (may_be_shared and found.st_mode & stat.S_ISVTX):
        return True
    return not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
