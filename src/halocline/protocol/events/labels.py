"""A task's name, tags and favorite mark."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.values import Value


class TaskLabelled(Durable, frozen=True):
    """The task's name, tags or favorite mark changed. None: unchanged; an empty name removes the name."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    favourite: bool | None = None


class Labels(Value, frozen=True):
    """All labels of a task."""

    name: str = ""
    tags: tuple[str, ...] = ()
    favourite: bool = False

    def after(self, event: TaskLabelled) -> "Labels":
        """Return the labels after the event."""
        return Labels(
            self.name if event.name is None else event.name,
            self.tags if event.tags is None else event.tags,
            self.favourite if event.favourite is None else event.favourite,
        )
