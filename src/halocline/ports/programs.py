"""The door to programs that run beside a task for long and are spoken to over their standard input and output."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.child_environment import ChildEnvironment


class Program(Protocol):
    """One that runs. `exited` gives its exit code, negative for a signal."""

    @property
    def input(self) -> asyncio.WriteTransport: ...

    @property
    def output(self) -> asyncio.StreamReader: ...

    @property
    def errors(self) -> asyncio.StreamReader: ...

    @property
    def exited(self) -> "asyncio.Future[int]": ...

    async def end(self, patience: float) -> None:
        """Close its input; end it, and all that it started, when it is still there after `patience` seconds."""


class Programs(Protocol):
    """Starts programs, each in a session of its own; nothing of them outlives halo."""

    async def start(self, words: Sequence[str], environment: ChildEnvironment, folder: str) -> Program:
        """Start one. Raises OSError, and ValueError for a NUL."""

    async def close(self) -> None:
        """End everything that was started and whatever came of it."""
