"""A host without a file system: files in memory."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from errno import EACCES, EINVAL, ELOOP, ENOENT, ENOTDIR
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import TypeVar

from halocline.hosts.files.line_ranges import read_lines
from halocline.ports.host import FileChangedOutside, FileInfo, FileWrite, LineRange, Mark, Scope

T = TypeVar("T")


class MemoryFiles:
    """Implements `ports.host.Files`. `contents` has every file; a folder exists if a file is below it."""

    def __init__(self, contents: Mapping[Path, bytes] | None = None) -> None:
        self.contents: dict[Path, bytes] = dict(contents or {})
        self._clock = count(1)
        self._modified: dict[Path, int] = {}
        self._may_write: Callable[[str], bool] = lambda path: True
        self._scope: Scope | None = None

    def only(self, may_write: Callable[[str], bool], scope: Scope | None = None) -> "MemoryFiles":
        limited = copy(self)
        limited._may_write = may_write
        limited._scope = scope
        return limited

    async def info(self, path: Path) -> FileInfo | None:
        if self._hides(path):
            return None
        self._require_in_scope(path)
        if path in self.contents:
            return FileInfo(len(self.contents[path]), True, False, self._modified.get(path, 0))
        return FileInfo(0, False, True) if self._is_folder(path) else None

    async def read(self, path: Path, limit: int) -> bytes:
        self._require_in_scope(path)
        if self._is_folder(path):
            raise OSError(EINVAL, "not a regular file", str(path))
        if path not in self.contents:
            raise FileNotFoundError(ENOENT, "no such file or directory", str(path))
        return self.contents[path][:limit]

    def declared_encoding(self, path: Path) -> str:
        return ""

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        return read_lines(BytesIO(await self.read(path, len(self.contents.get(path, b"")))), first, last, limit)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        self._require(path)
        if self._is_folder(path):
            raise OSError(EINVAL, "not a regular file", str(path))
        if any(parent in self.contents for parent in path.parents):
            raise NotADirectoryError(ENOTDIR, "not a directory", str(path))
        if self.contents.get(path) != expected:
            raise FileChangedOutside(str(path))
        self.contents[path] = data
        self._modified[path] = next(self._clock)

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        before, modified = dict(self.contents), dict(self._modified)
        try:
            for write in writes:
                self._require(write.path)
                if write.data is not None:
                    await self.write(write.path, write.data, write.expected)
                elif self.contents.get(write.path) != write.expected:
                    raise FileChangedOutside(str(write.path))
                else:
                    self.contents.pop(write.path, None)
        except BaseException:
            _put_back(self.contents, before)
            _put_back(self._modified, modified)
            raise

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        return []

    async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
        return [self._mark(folder / name) for name in names]

    def _mark(self, path: Path) -> Mark | None:
        if path not in self.contents:
            return None
        changed = self._modified.get(path, 0)
        return Mark(changed, len(self.contents[path]), hash(path), changed)

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        there = (name for name in names if folder / name in self.contents or self._is_folder(folder / name))
        return [name for name in there if not self._hides(folder / name)]

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        if not self._is_folder(path):
            raise FileNotFoundError(ENOENT, "no such file or directory", str(path))
        self._require_in_scope(path)
        below = [file.relative_to(path).parts for file in self.contents if path in file.parents]
        return sorted({(parts[0], len(parts) > 1) for parts in below if not self._hides(path / parts[0])})

    def _hides(self, path: Path) -> bool:
        return self._scope is not None and self._scope.hides(str(path))

    def _require_in_scope(self, path: Path) -> None:
        if self._scope and (why := self._scope.refusal(str(path))):
            raise OSError(EACCES, why, str(path))

    def _require(self, path: Path) -> None:
        if not self._may_write(str(path)):
            raise OSError(ELOOP, "it now leads elsewhere than when it was checked", str(path))

    def _is_folder(self, path: Path) -> bool:
        return any(path in file.parents for file in self.contents)


def _put_back(now: dict[Path, T], then: Mapping[Path, T]) -> None:
    now.clear()
    now.update(then)
