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
        """Ask for a checkpoint. `paths` says that only these changed; None means anything may have."""

    async def barrier(self, paths: Sequence[str] | None = None) -> None:
        """Wait until files may change again: these, or any. What was asked for will show them as they are now."""

    async def settle(self) -> None:
        """Wait until all that was asked for is done."""

    async def close(self) -> None:
        """Break off what is under way and let go."""
