"""The door to the rules that lie in files: which a task follows, and what is new of them before a request."""

from typing import Protocol

from halocline.protocol.instructions import Beginning, InstructionsLoaded
from halocline.protocol.state.state import State


class Instructions(Protocol):
    """The files of rules of one task."""

    def begins(self) -> Beginning:
        """What holds from the start."""

    def news(self, state: State) -> InstructionsLoaded | None:
        """What the model has to be told before its next request; nothing most of the time."""
