"""The door to how files were before."""

from collections.abc import Callable, Sequence
from typing import Protocol

from halocline.protocol.events import DurableEvent, Noticed

Emit = Callable[[DurableEvent | Noticed], None]


class Checkpoints(Protocol):
    """Saves the workspace in the background. It never raises into the task: trouble is a `Noticed`, once."""

    def begin(self, emit: Emit) -> None:
        """Save the first checkpoint soon, in the background. `emit` gets `CheckpointTaken` whenever one is done."""

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        """Ask for a checkpoint of what the task did. `paths`: only these changed, or none; None: anything may have."""

    def wrote(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Hear what an edit has done to a file: what it held before and after; None for no file."""

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True) -> None:
        """Wait until the task may change files: these, none of them, or any.

        What was asked for will show them as they are now, and what others changed is not taken for the task's. `ran`:
        a command changes them, and what it writes will not be told by `wrote`.
        """

    async def settle(self) -> None:
        """Wait until all that was asked for is done."""

    async def close(self) -> None:
        """Break off what is under way and let go."""
