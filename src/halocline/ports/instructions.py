"""Port for rule files: those that a task follows, and their changes before a request."""

from typing import Protocol

from halocline.protocol.events.instructions import Beginning, InstructionsLoaded
from halocline.protocol.state.state import State


class Instructions(Protocol):
    """The rule files of one task."""

    def begins(self) -> Beginning:
        """Return the rules that apply from the start."""

    def collect_changes(self, state: State) -> InstructionsLoaded | None:
        """Return changes for the model before its next request; usually None."""
