"""Files on this machine. Slow calls run in a thread; writes are atomic."""

import asyncio
import os
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from halocline.files.opening import leads_to_folder, look_at, open_folder_below, open_resolved, require_regular
from halocline.files.real_paths import find_real_path
from halocline.files.regular import read_from
from halocline.files.target import MayWrite, admit_path, hold_target, is_locked
from halocline.hosts import files
from halocline.ports.host import FileChangedOutside, FileInfo, FileWrite, LineRange, Mark, Scope

_SMALL = 1 << 16
_FEW = 200
_BEGINS, _ENDS = ".halo-", ".tmp"
"""Name pattern of a temporary file that will replace another."""


class LocalFiles:
    """Implements `ports.host.Files`. Small files are read and written without a thread, which would cost much more.

    `journals` is the folder whose journals make `write_all` safe against being killed; `may_write` and `scope` are the
    arguments of `only`. `encodings` are those that a person set, by pattern.
    """

    def __init__(
        self,
        journals: Path | None = None,
        may_write: MayWrite | None = None,
        scope: Scope | None = None,
        encodings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._encodings = encodings
        self._journals = journals
        self._may_write = may_write
        self._scope = scope
        self._since = time.time_ns()

    def only(self, may_write: MayWrite, scope: Scope | None = None) -> "LocalFiles":
        return LocalFiles(self._journals, may_write, scope, self._encodings)

    async def info(self, path: Path) -> FileInfo | None:
        found = look_at(path, self._scope)
        if found is None:
            return None
        return FileInfo(found.st_size, stat.S_ISREG(found.st_mode), stat.S_ISDIR(found.st_mode), found.st_mtime_ns)

    async def read(self, path: Path, limit: int) -> bytes:
        found = _read_file(path, limit, self._scope, _SMALL)
        if found is None:
            found = await asyncio.to_thread(_read_file, path, limit, self._scope)
        return found or b""

    def declared_encoding(self, path: Path) -> str:
        try:
            return files.declared_encodings.find_declared(find_real_path(path), self._encodings)
        except OSError:  # a link on the way changes right now
            return ""

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        declared = self.declared_encoding(path)
        return await asyncio.to_thread(_read_lines, path, first, last, limit, self._scope, declared)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        if len(data) <= _SMALL:
            _write_file(path, data, expected, self._may_write)
        else:
            await asyncio.to_thread(_write_file, path, data, expected, self._may_write)

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        given_up = threading.Event()
        try:
            await asyncio.to_thread(
                files.transaction.change_files, self._journals, writes, self._may_write, given_up.is_set
            )
        finally:  # a thread that still waits for the lock must not start
            given_up.set()

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        repairs = []
        if has_journals(self._journals):
            repairs = await asyncio.to_thread(files.transaction.mend_files, self._journals)
        if not has_journals(self._journals):
            _remove_leftovers(cut_short, self._since)
        return repairs

    async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
        if len(names) > _FEW:
            return await asyncio.to_thread(_file_marks, f"{folder}/", names)
        return _file_marks(f"{folder}/", names)

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        return await asyncio.to_thread(_existing_names, folder, names, self._scope)

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        return await asyncio.to_thread(_list_folder, path, self._scope)


def _file_marks(root: str, names: Sequence[str]) -> list[Mark | None]:
    return [_file_mark(name if name[0] == "/" else root + name) for name in names]


def _file_mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Mark(found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def _list_folder(path: Path, scope: Scope | None) -> list[tuple[str, bool]]:
    with open_resolved(path, scope) as (fd, place, _), os.scandir(fd) as entries:
        return sorted((entry.name, leads_to_folder(entry)) for entry in entries if not _is_hidden(entry, place, scope))


def _is_hidden(entry: "os.DirEntry[str]", folder: str, scope: Scope | None) -> bool:
    """True if an entry or its link target is hidden."""
    if scope is None:
        return False
    place = os.path.join(folder, entry.name)
    return scope.hides(find_real_path(place) if entry.is_symlink() else place)


def _existing_names(folder: Path, names: Sequence[str], scope: Scope | None) -> list[str]:
    """The names that exist; each folder on the way is opened once."""
    with open_resolved(folder, scope) as (top, place, _):
        parents: dict[str, int | None] = {"": top}
        try:
            return [name for name in names if _is_present(name.rstrip("/"), place, parents, scope)]
        finally:
            for fd in filter(None, list(parents.values())[1:]):
                os.close(fd)


def _is_present(name: str, place: str, parents: dict[str, int | None], scope: Scope | None) -> bool:
    parent, _, last = name.rpartition("/")
    if parent not in parents:
        parents[parent] = _folder_below(parents[""], parent)
    fd = parents[parent]
    if fd is None or (scope and scope.hides(os.path.join(place, name))):
        return False
    try:
        found = os.stat(last, dir_fd=fd, follow_symlinks=False)
    except OSError:
        return False
    is_link = stat.S_ISLNK(found.st_mode)
    return not (is_link and scope and scope.hides(find_real_path(os.path.join(place, name))))


def _folder_below(fd: int | None, name: str) -> int | None:
    try:
        return None if fd is None else open_folder_below(fd, name)
    except OSError:
        return None


def _read_file(path: Path, limit: int, scope: Scope | None, largest: int = 0) -> bytes | None:
    """Read a file; None for one of more than `largest` bytes, or of no size, which may take time."""
    with open_resolved(path, scope) as (fd, _, found):
        require_regular(found, path)
        return read_from(fd, limit) if not largest or 0 < found.st_size <= largest else None


def _read_lines(path: Path, first: int, last: int, limit: int, scope: Scope | None, declared: str) -> LineRange:
    with open_resolved(path, scope) as (fd, _, found):
        require_regular(found, path)
        with open(fd, "rb", closefd=False) as file:
            return files.line_ranges.read_lines(file, first, last, limit, declared)


def _write_file(path: Path, data: bytes, expected: bytes | None, may_write: MayWrite | None) -> None:
    with hold_target(Path(admit_path(find_real_path(path), may_write)), making_folders=True) as target:
        replaced = target.writable()
        temporary = f"{_BEGINS}{os.urandom(6).hex()}{_ENDS}"
        # No fsync, which takes milliseconds: a killed process loses no renamed file, only a crash of the machine could.
        try:
            with target.staged(temporary, data, replaced):
                if target.content() != expected:
                    raise FileChangedOutside(str(path))
                target.replace(temporary)
        except BaseException:
            target.drop(temporary)
            raise


def _remove_leftovers(paths: Sequence[Path], since: int) -> None:
    """Remove temporary files of these files' writes whose process died."""
    for path in temporaries_beside(paths, since):
        with suppress(OSError), hold_target(path) as target:
            target.drop()


def has_journals(folder: Path | None) -> bool:
    """True if a change of several files is being made, or was not finished: what is beside them belongs to it."""
    names = os.listdir(folder) if folder and folder.is_dir() else ()
    return any(name.endswith((".journal", ".done")) for name in names)


def temporaries_beside(paths: Sequence[Path], since: int) -> list[Path]:
    """Temporary files of writes whose process died: older than `since` (clock time in nanoseconds), and not locked."""
    found = []
    for folder in {os.path.dirname(find_real_path(path)) for path in paths}:
        with suppress(OSError), os.scandir(folder) as entries:
            named = [one for one in entries if one.name.startswith(_BEGINS) and one.name.endswith(_ENDS)]
            found += [Path(one.path) for one in named if _is_left(one, since)]
    return found


def _is_left(entry: os.DirEntry[str], since: int) -> bool:
    """True if no process writes a temporary file any more. One that is gone by now is not left."""
    with suppress(OSError):
        if entry.stat(follow_symlinks=False).st_mtime_ns < since:
            return entry.is_symlink() or not is_locked(entry.path)
    return False
