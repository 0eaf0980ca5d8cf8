"""The compactions of a conversation."""

from halocline.protocol.events.compaction import Compacted, CompactionStarted
from halocline.protocol.values import Value


class CompactionState(Value, frozen=True):
    """Compactions, oldest first, and the one that runs. A rewind or an undo removes later ones."""

    applied: tuple[Compacted, ...] = ()
    running: CompactionStarted | None = None

    @property
    def latest(self) -> Compacted | None:
        """The compaction in force, if any."""
        return self.applied[-1] if self.applied else None
