"""Port for errors that language servers find in source code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from halocline.protocol.values import Value

LARGEST_TEXT = 1_000_000
"""Bytes of the largest text that is sent to a server."""


class Problem(Value, frozen=True):
    """An error in a file, or a warning. `line` counts from 1, `text` is that line, `source` the tool that found it."""

    path: Path
    line: int
    text: str
    message: str
    code: str = ""
    source: str = ""
    is_warning: bool = False


class EditedText(Value, frozen=True):
    """A file's text before and after an edit (None: the file did not exist)."""

    path: Path
    before: str | None
    after: str | None


class Diagnostics(Protocol):
    """Errors in source code. Unknown results are left out: an empty answer does not mean that the code is correct.

    No method raises, except for cancellation, and none waits longer than the settings allow.
    """

    def knows(self, path: Path) -> bool:
        """True if there is a server for files with this name."""

    def expect(self, path: Path) -> None:
        """Check a file in the background, because it was read and may be edited."""
        return

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        """Return errors that the edits, already written, introduced; not those that only moved to another line."""

    def late(self) -> tuple[Problem, ...]:
        """Return, once, the errors that came too late for `introduced` and still exist."""

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """Return all errors in these files and in those read or edited; None if no server answered."""

    async def shown(self) -> tuple[Problem, ...] | None:
        """Return all errors and warnings that the person's editor shows, errors first; None outside an editor."""
        return None

    async def close(self) -> None:
        """Stop all servers, with their child processes."""
        return


class NoDiagnostics(Diagnostics):
    """Diagnostics without any language server."""

    def knows(self, path: Path) -> bool:
        return False

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        return ()

    def late(self) -> tuple[Problem, ...]:
        return ()

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        return None
