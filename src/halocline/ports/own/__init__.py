"""Ports for what a program gives its tasks in place of this machine: a store of files, and what runs commands."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from halocline.protocol.values import Value


class CommandResult(Value, frozen=True):
    """The end of a command. `exit_code` is None if it was stopped; `output` is both streams, interleaved."""

    exit_code: int | None
    output: str


class Files(Protocol):
    """Files that a program keeps. Paths are absolute; what is missing is a FileNotFoundError, other failures OSErrors.

    Folders exist as long as something is in them.
    """

    async def read(self, path: Path) -> bytes:
        """Return the content of a file. Raises FileNotFoundError, also for a folder."""

    async def write(self, path: Path, data: bytes) -> None:
        """Write a file, and the folders above it."""

    async def remove(self, path: Path) -> None:
        """Remove a file."""

    async def list(self, path: Path) -> Sequence[str]:
        """Return the names in a folder; those of folders end in `/`. Raises FileNotFoundError."""


class Shell(Protocol):
    """Runs commands for a program: in a container, on another machine."""

    async def run(self, command: str, folder: Path, on_output: Callable[[str], None]) -> CommandResult:
        """Run a command in a folder to its end; `on_output` gets what it prints meanwhile. A cancellation stops it."""


class Host(Value, frozen=True):
    """A world for the tools of a task in place of this machine; None is as on this machine."""

    files: Files | None = None
    shell: Shell | None = None
