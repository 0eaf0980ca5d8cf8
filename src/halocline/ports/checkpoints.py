"""Port for checkpoints of the workspace."""

from collections.abc import Callable, Sequence
from typing import Protocol

from halocline.protocol.events import DurableEvent, Noticed

Emit = Callable[[DurableEvent | Noticed], None]
Content = Callable[[], bytes] | None


class Checkpoints(Protocol):
    """Saves the workspace in the background. It never raises into the task: it reports a problem once, as an event.

    `paths` name directory entries, and the files that they lead to, as they were when the change began; no link is
    followed again.
    """

    def begin(self, emit: Emit) -> None:
        """Save the first checkpoint soon, in the background. `emit` gets `CheckpointTaken` whenever one is done."""
        return

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        """Request a checkpoint of the task's changes. Only `paths` changed; None: anything may have."""
        return

    def wrote(self, path: str, before: Content, after: Content) -> None:
        """Note an edit: what reads the file's content before and after it; None for no file."""
        return

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True, destroys: bool = False) -> None:
        """Wait until the task may change files: `paths` (perhaps none), or any if None.

        Requested checkpoints will have their current content, and changes by others are not attributed to the task.
        `ran`: a command changes them, so `wrote` will not be called for what it writes. `destroys`: it deletes or
        overwrites files, so it waits for the first checkpoint however long that takes; others go on without a late one.
        """
        return

    async def settle(self) -> None:
        """Wait until all requested checkpoints are saved."""
        return

    async def close(self) -> None:
        """Cancel running work and release everything."""
        return
