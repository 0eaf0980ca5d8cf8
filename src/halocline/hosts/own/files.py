"""Files of a program as the files of a task. What is judged is the path as it is written: there are no links."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from errno import EACCES, EINVAL, ELOOP, ENOENT, ENOTDIR
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

from halocline.files.target import MayWrite
from halocline.hosts.files.line_ranges import read_lines
from halocline.ports import own as own_host
from halocline.ports.host import FileChangedOutside, FileInfo, FileWrite, LineRange, Mark, Scope


class OwnFiles:
    """Implements `ports.host.Files`. Writes of one process are made one by one, so none overtakes a comparison."""

    def __init__(self, store: own_host.Files) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._may_write: MayWrite = lambda path: True
        self._scope: Scope | None = None

    def only(self, may_write: MayWrite, scope: Scope | None = None) -> "OwnFiles":
        limited = copy(self)
        limited._may_write, limited._scope = may_write, scope
        return limited

    async def info(self, path: Path) -> FileInfo | None:
        if self._hides(path):
            return None
        self._require_in_scope(path)
        data = await self._find(path)
        if data is not None:
            return FileInfo(len(data), True, False, _sign(data))
        return FileInfo(0, False, True) if await self._is_folder(path) else None

    async def read(self, path: Path, limit: int) -> bytes:
        self._require_in_scope(path)
        data = await self._find(path)
        if data is None:
            is_folder = await self._is_folder(path)
            raise OSError(EINVAL if is_folder else ENOENT, "not a regular file" if is_folder else "no file", str(path))
        return data[:limit]

    def declared_encoding(self, path: Path) -> str:
        return ""

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        self._require_in_scope(path)
        return read_lines(BytesIO(await self._store.read(path)), first, last, limit)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        await self.write_all([FileWrite(path, data, expected)])

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        async with self._lock:
            for write in writes:
                await self._require(write)
            done: list[FileWrite] = []
            try:
                for write in writes:
                    done.append(write)
                    await self._put(write.path, write.data)
            except BaseException:
                for write in done:
                    with suppress(OSError):
                        await self._put(write.path, write.expected)
                raise

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        return []

    async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
        found = [await self._find(folder / name) for name in names]
        return [None if data is None else Mark(0, len(data), _sign(data), 0) for data in found]

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        return [name for name in names if not self._hides(folder / name) and await self.info(folder / name)]

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        self._require_in_scope(path)
        names = [name for name in await self._store.list(path) if not self._hides(path / name)]
        return sorted((name.rstrip("/"), name.endswith("/")) for name in names)

    async def _find(self, path: Path) -> bytes | None:
        with suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return await self._store.read(path)
        return None

    async def _is_folder(self, path: Path) -> bool:
        with suppress(FileNotFoundError, NotADirectoryError):
            return bool(await self._store.list(path))
        return False

    async def _put(self, path: Path, data: bytes | None) -> None:
        if data is not None:
            await self._store.write(path, data)
        elif await self._find(path) is not None:
            await self._store.remove(path)

    async def _require(self, write: FileWrite) -> None:
        """Raise OSError for a place that may not be written, and FileChangedOutside."""
        if not self._may_write(str(write.path)):
            raise OSError(ELOOP, "it now leads elsewhere than when it was checked", str(write.path))
        found = await self._find(write.path)
        if found is None and await self._is_folder(write.path):
            raise OSError(EINVAL, "not a regular file", str(write.path))
        for parent in write.path.parents:
            if found is None and await self._find(parent) is not None:
                raise NotADirectoryError(ENOTDIR, "not a directory", str(write.path))
        if found != write.expected:
            raise FileChangedOutside(str(write.path))

    def _hides(self, path: Path) -> bool:
        return self._scope is not None and self._scope.hides(str(path))

    def _require_in_scope(self, path: Path) -> None:
        if self._scope and (why := self._scope.refusal(str(path))):
            raise OSError(EACCES, why, str(path))


def _sign(data: bytes) -> int:
    """Return a number that is another one for other content."""
    return int.from_bytes(blake2b(data, digest_size=7).digest())
