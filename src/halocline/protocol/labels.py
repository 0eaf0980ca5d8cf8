"""What a person calls a task, and how they marked it."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.values import Value


class TaskLabelled(Durable, frozen=True):
    """A task was named or marked. None: as it was; an empty name is none."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    favourite: bool | None = None


class Labels(Value, frozen=True):
    """All that was said of a task."""

    name: str = ""
    tags: tuple[str, ...] = ()
    favourite: bool = False

    def after(self, event: TaskLabelled) -> "Labels":
        """The labels with what the event says."""
        return Labels(
            self.name if event.name is None else event.name,
            self.tags if event.tags is None else event.tags,
            self.favourite if event.favourite is None else event.favourite,
        )
