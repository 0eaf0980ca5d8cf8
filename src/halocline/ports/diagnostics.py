"""The door to what language servers find wrong in source code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from halocline.protocol.values import Value


class Problem(Value, frozen=True):
    """An error in a file. `line` counts from 1 and `text` is that line; `source` is who says so."""

    path: Path
    line: int
    text: str
    message: str
    code: str = ""
    source: str = ""


class EditedText(Value, frozen=True):
    """A file's text before and after an edit (None: no such file)."""

    path: Path
    before: str | None
    after: str | None


class Diagnostics(Protocol):
    """Errors in source code. What cannot be known is left out: no answer never means that all is well.

    Nothing here raises, but for cancellation, and nothing waits longer than the settings say.
    """

    def knows(self, path: Path) -> bool:
        """Whether there is a server for files of that name."""

    def expect(self, path: Path) -> None:
        """The file was read and may be edited: learn in the background how it is now."""

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        """The errors that edits, already written, brought in; not those that only moved to another line."""

    def late(self) -> tuple[Problem, ...]:
        """What `introduced` could not wait for, once, and only what is still so."""

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """All errors in these files and in those that were read or edited; None when no server could say."""

    async def close(self) -> None:
        """End everything that was started, and whatever came of it."""


class NoDiagnostics:
    """Knows of no language, and starts nothing."""

    def knows(self, path: Path) -> bool:
        return False

    def expect(self, path: Path) -> None:
        return None

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        return ()

    def late(self) -> tuple[Problem, ...]:
        return ()

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        return None

    async def close(self) -> None:
        return None
