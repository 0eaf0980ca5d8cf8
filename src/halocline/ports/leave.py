"""The door to what people allow and forbid for good."""

from pathlib import Path
from typing import Protocol

from halocline.protocol.events import Grant
from halocline.protocol.rules import RuleBook


class Leave(Protocol):
    """Rules that outlive a task."""

    def book(self) -> RuleBook:
        """The rules in force now. It never raises: what cannot be read is among the book's `problems`."""

    def keep(self, grant: Grant, workspace: Path | None) -> None:
        """Remember leave, for one folder or for all. Raises OSError."""
