"""Files whose changes wait: what an edit reads and works out need not wait for the disk, what it writes must."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from halocline.ports.host import FileInfo, Files, FileWrite, LineRange, Mark, Scope

Admit = Callable[[], Awaitable[object]]
"""Waits until files may change."""


class HeldFiles:
    """Implements `ports.host.Files` with other files; each change first waits for `admit`."""

    def __init__(self, files: Files, admit: Admit) -> None:
        self._files = files
        self._admit = admit

    def only(self, may_write: Callable[[str], bool], scope: Scope | None = None) -> "HeldFiles":
        return HeldFiles(self._files.only(may_write, scope), self._admit)

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        await self._admit()
        await self._files.write(path, data, expected)

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        await self._admit()
        await self._files.write_all(writes)

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        await self._admit()
        return await self._files.mend(cut_short)

    async def info(self, path: Path) -> FileInfo | None:
        return await self._files.info(path)

    async def read(self, path: Path, limit: int) -> bytes:
        return await self._files.read(path, limit)

    def declared_encoding(self, path: Path) -> str:
        return self._files.declared_encoding(path)

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        return await self._files.read_lines(path, first, last, limit)

    async def marks(self, folder: Path, names: Sequence[str]) -> Sequence[Mark | None]:
        return await self._files.marks(folder, names)

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        return await self._files.present(folder, names)

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        return await self._files.list(path)
