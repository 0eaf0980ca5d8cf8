"""A host without a machine: files that live in memory."""

from collections.abc import Mapping, Sequence
from errno import EINVAL, ENOENT, ENOTDIR
from itertools import count
from pathlib import Path

from halocline.ports.host import FileChangedOutside, FileInfo, FileWrite, Mark


class MemoryFiles:
    """Fulfils `ports.host.Files`. `contents` holds every file; a folder is there when a file is below it."""

    def __init__(self, contents: Mapping[Path, bytes] | None = None) -> None:
        self.contents: dict[Path, bytes] = dict(contents or {})
        self._clock = count(1)
        self._modified: dict[Path, int] = {}

    async def info(self, path: Path) -> FileInfo | None:
        if path in self.contents:
            return FileInfo(len(self.contents[path]), True, False, self._modified.get(path, 0))
        return FileInfo(0, False, True) if self._is_folder(path) else None

    async def read(self, path: Path, limit: int) -> bytes:
        if self._is_folder(path):
            raise OSError(EINVAL, "not a regular file", str(path))
        if path not in self.contents:
            raise FileNotFoundError(ENOENT, "no such file or directory", str(path))
        return self.contents[path][:limit]

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
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
                if write.data is not None:
                    await self.write(write.path, write.data, write.expected)
                elif self.contents.get(write.path) != write.expected:
                    raise FileChangedOutside(str(write.path))
                else:
                    self.contents.pop(write.path, None)
        except BaseException:
            self.contents, self._modified = before, modified
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

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        if not self._is_folder(path):
            raise FileNotFoundError(ENOENT, "no such file or directory", str(path))
        below = [file.relative_to(path).parts for file in self.contents if path in file.parents]
        return sorted({(parts[0], len(parts) > 1) for parts in below})

    def _is_folder(self, path: Path) -> bool:
        return any(path in file.parents for file in self.contents)
