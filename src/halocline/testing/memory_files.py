"""Files without a file system: those of a program, in memory."""

from collections.abc import Mapping
from errno import ENOENT
from pathlib import Path


class MemoryFiles:
    """Implements `ports.own.Files`. `contents` has every file; a folder exists if a file is below it."""

    def __init__(self, contents: Mapping[Path, bytes] | None = None) -> None:
        self.contents: dict[Path, bytes] = dict(contents or {})

    async def read(self, path: Path) -> bytes:
        """Return the content of a file. Raises FileNotFoundError."""
        if path not in self.contents:
            raise FileNotFoundError(ENOENT, "no such file", str(path))
        return self.contents[path]

    async def write(self, path: Path, data: bytes) -> None:
        """Write a file; its folders exist with it."""
        self.contents[path] = data

    async def remove(self, path: Path) -> None:
        """Remove a file."""
        del self.contents[path]

    async def list(self, path: Path) -> list[str]:
        """Return the names in a folder; those of folders end in `/`. Raises FileNotFoundError."""
        below = [file.relative_to(path).parts for file in self.contents if path in file.parents]
        if not below:
            raise FileNotFoundError(ENOENT, "no such folder", str(path))
        return sorted({f"{parts[0]}/" if len(parts) > 1 else parts[0] for parts in below})
