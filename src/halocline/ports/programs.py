"""Port for long-running programs that communicate over stdin and stdout."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.child_environment import ChildEnvironment


class Program(Protocol):
    """A running program. `exited` resolves to its exit code, negative for a signal."""

    @property
    def input(self) -> asyncio.WriteTransport: ...

    @property
    def output(self) -> asyncio.StreamReader: ...

    @property
    def errors(self) -> asyncio.StreamReader: ...

    @property
    def exited(self) -> "asyncio.Future[int]": ...

    async def end(self, patience: float) -> None:
        """Close its stdin; kill it and its descendants if it is still running after `patience` seconds."""


class Programs(Protocol):
    """Starts programs, each in its own session; none of their processes outlives halo."""

    async def start(self, words: Sequence[str], environment: ChildEnvironment, folder: str) -> Program:
        """Start a program. Raises OSError, and ValueError for a NUL character."""

    async def close(self) -> None:
        """Stop all programs, with their descendants."""
