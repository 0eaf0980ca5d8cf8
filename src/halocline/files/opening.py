"""The one way to open files for reading: what is opened is what its resolved path was found to name, or nothing.

On Linux a file is first opened without its content: the system tells the path of that descriptor, and then opens what
it holds, so nothing can come between. Elsewhere, and for all but regular files, the path is resolved once, then opened
component by component without links: a link that appears between check and use is an error. Checks on what was opened
use its descriptor.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EINVAL, ELOOP, ENOENT, ENXIO
from pathlib import Path

from halocline.files import regular
from halocline.files.real_paths import find_real_path, open_without_content
from halocline.ports.host import Scope

FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
READING = regular.READING | os.O_NOFOLLOW
CHANGED = "it changed while it was being opened; read it again"
CIRCLE = "it is a link that leads in a circle"
NOT_REGULAR = "not a regular file (a folder, device, pipe or socket)"


def find_place(path: Path | str) -> str:
    """Resolve all links of a path. Raises OSError when it changes meanwhile.

    Some links in `/proc` cannot be read or lead nowhere; such a path resolves to the link itself.
    """
    try:
        return find_real_path(path)
    except OSError as error:
        if str(error.filename).startswith("/proc/"):
            return str(error.filename)
        # a link was there, but was gone when it was read
        raise OSError(error.errno, CHANGED, str(path)) from None


def open_folder(place: str, *, making: bool = False) -> int:
    """Open a folder to open files relative to it. Raises OSError when a component is a link."""
    return _descend_folders(os.open("/", FOLDER), place.split("/"), making)


def open_folder_below(folder: int, name: str, *, making: bool = False) -> int:
    """Do the same for a folder below an open one."""
    return _descend_folders(os.dup(folder), name.split("/"), making)


@contextmanager
def opened_folder(place: str) -> Iterator[int]:
    """Open a folder for the duration of the context. Raises OSError when a component is a link."""
    folder = open_folder(place)
    try:
        yield folder
    finally:
        os.close(folder)


def list_below(folder: int, name: str) -> list[tuple[str, bool]]:
    """List a folder below an open one, as (name, is a folder). Raises OSError."""
    with _entries_below(folder, name) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def links_below(folder: int, name: str) -> list[tuple[str, bool]]:
    """List the links in a folder below an open one, as (name, leads to a folder); none if it cannot be listed."""
    with suppress(OSError), _entries_below(folder, name) as entries:
        return [(entry.name, leads_to_folder(entry)) for entry in entries if entry.is_symlink()]
    return []


def leads_to_folder(entry: "os.DirEntry[str]") -> bool:
    """True for a folder and for a link to one; a link may also lead in a circle."""
    try:
        return entry.is_dir()
    except OSError:
        return False


@contextmanager
def _entries_below(folder: int, name: str) -> "Iterator[Iterator[os.DirEntry[str]]]":
    inner = open_folder_below(folder, name)
    try:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=inner)
    finally:
        os.close(inner)
    try:
        with os.scandir(fd) as entries:
            yield entries
    finally:
        os.close(fd)


def open_below(folder: int, name: str) -> int:
    """Open a file below an open folder for reading. Raises OSError when a component is a link."""
    parents, _, last = name.rpartition("/")
    if not parents:
        return os.open(last, READING, dir_fd=folder)
    parent = open_folder_below(folder, parents)
    try:
        return os.open(last, READING, dir_fd=parent)
    finally:
        os.close(parent)


def open_place(place: str) -> int:
    """Do the same for an absolute path."""
    folder, _, name = place.rpartition("/")
    parent = open_folder(folder)
    try:
        return os.open(name or ".", READING, dir_fd=parent)
    except OSError as error:
        raise _explain_error(error, place) from None
    finally:
        os.close(parent)


@contextmanager
def open_resolved(path: Path | str, scope: Scope | None = None) -> Iterator[tuple[int, str, os.stat_result]]:
    """Resolve and open a path for reading; yield the descriptor, the resolved path and its stat.

    Raises OSError: nothing is there, a link appeared in the path, or it is outside the scope.
    """
    fd, place, found = _open_held_file(path) or _open_step_by_step(path)
    try:
        if scope and (why := scope.refusal(place, found)):
            raise OSError(EACCES, why, str(path))
        yield fd, place, found
    finally:
        os.close(fd)


def look_at(path: Path | str, scope: Scope | None = None) -> os.stat_result | None:
    """Stat what a path resolves to, without opening it; None when nothing is there or it is hidden. Raises OSError."""
    if held := open_without_content(os.fspath(path)):
        os.close(held[0])
    place = held[1] if held else find_place(path)
    if scope and scope.hides(place):
        return None
    if scope and (why := scope.refusal(place)):
        raise OSError(EACCES, why, str(path))
    if held and stat.S_ISREG(held[2].st_mode):
        return held[2]
    folder, _, name = place.rpartition("/")
    try:
        parent = open_folder(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found = os.stat(name or ".", dir_fd=parent, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    finally:
        os.close(parent)
    if stat.S_ISLNK(found.st_mode):
        raise OSError(ELOOP, CIRCLE if _leads_in_circle(place) else CHANGED, str(path))
    return found


def _open_held_file(path: Path | str) -> tuple[int, str, os.stat_result] | None:
    """Open the regular file that a path leads to, as it is held open already; None where that cannot be done."""
    if (opened := open_without_content(os.fspath(path))) is None:
        return None
    held, place, found = opened
    try:
        fd = os.open(f"/proc/self/fd/{held}", regular.READING) if stat.S_ISREG(found.st_mode) else None
        return None if fd is None else (fd, place, found)
    except OSError:  # opening it by its path says why
        return None
    finally:
        os.close(held)


def _open_step_by_step(path: Path | str) -> tuple[int, str, os.stat_result]:
    place = find_place(path)
    fd = open_place(place)
    return fd, place, os.fstat(fd)


def _leads_in_circle(place: str) -> bool:
    try:
        os.stat(place)
    except OSError as error:
        return error.errno == ELOOP
    return False


def require_regular(found: os.stat_result, path: Path | str) -> None:
    """Raise OSError for a folder, device, pipe or socket."""
    if not stat.S_ISREG(found.st_mode):
        raise OSError(EINVAL, NOT_REGULAR, str(path))


def _explain_error(error: OSError, place: str) -> OSError:
    """Explain ELOOP (a link appeared after the check) and ENXIO (a socket, which cannot be opened)."""
    message = {ELOOP: CHANGED, ENXIO: NOT_REGULAR}.get(error.errno or 0, error.strerror)
    return OSError(error.errno, message, place)


def _descend_folders(fd: int, parts: list[str], making: bool) -> int:
    """Open the folder that the parts lead to; closes `fd`."""
    for part in parts:
        if not part:
            continue
        try:
            if part == "..":
                raise FileNotFoundError(ENOENT, os.strerror(ENOENT), part)
            inner = _open_inner(fd, part, making)
        finally:
            os.close(fd)
        fd = inner
    return fd


def _open_inner(fd: int, part: str, making: bool) -> int:
    try:
        return os.open(part, FOLDER, dir_fd=fd)
    except NotADirectoryError:
        # O_PATH with O_DIRECTORY gives the same error for a link and for a file.
        if stat.S_ISLNK(os.stat(part, dir_fd=fd, follow_symlinks=False).st_mode):
            raise OSError(ELOOP, CHANGED, part) from None
        raise
    except FileNotFoundError:
        if not making:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=fd)
    return os.open(part, FOLDER, dir_fd=fd)
