"""The door to the rules that lie in files: which a task follows, and what is new of them before a request."""

from typing import Protocol

from halocline.protocol.instructions import InstructionsLoaded
from halocline.protocol.state import State
from halocline.protocol.values import Value


class Beginning(Value, frozen=True):
    """For a task that begins: words for its system prompt, the event, and what a person should hear."""

    section: str = ""
    event: InstructionsLoaded | None = None
    remarks: tuple[str, ...] = ()


class Instructions(Protocol):
    """The files of rules of one task."""

    def begins(self) -> Beginning:
        """What holds from the start."""

    def news(self, state: State) -> InstructionsLoaded | None:
        """What the model has to be told before its next request; nothing most of the time."""
