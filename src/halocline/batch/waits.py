"""The waits of requests, for the provider's limit or until they are made again: no log has them."""

import time

from msgspec.structs import replace

from halocline.protocol import events as ev

_ENDS = (
    *(ev.StepStarted, ev.TextDelta, ev.ThinkingDelta, ev.ToolCallDelta),
    *(ev.AssistantMessageCompleted, ev.TurnEnded),
)
"""Events that end a wait. Others, such as those of a checkpoint, come during it."""


class Waits:
    """The waits of the items that run, by their ids."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[ev.StepRetried, float]] = {}

    def note(self, id: str, event: ev.Event) -> bool:
        """Take in an event of an item; True if it begins a wait."""
        if isinstance(event, ev.StepRetried):
            self._known[id] = event, time.monotonic() + event.wait
        elif isinstance(event, _ENDS):
            self._known.pop(id, None)
        return isinstance(event, ev.StepRetried)

    def read(self, id: str) -> ev.StepRetried | None:
        """Return what the request of an item waits for, with the seconds that are left; None if it does not wait."""
        event, end = self._known.get(id, (None, 0.0))
        left = end - time.monotonic()
        return replace(event, wait=left) if event and left > 0 else None
