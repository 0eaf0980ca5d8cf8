"""The door to what people allow and forbid for good."""

from pathlib import Path
from typing import Protocol

from halocline.protocol.events import Grant
from halocline.protocol.permission_rules import RuleBook


class Leave(Protocol):
    """Rules that outlive a task."""

    def book(self) -> RuleBook:
        """The rules in force now. It never raises: what cannot be read is among the book's `problems`."""

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Remember leave, for one folder or for all; `by` says who gave it, and where. Raises OSError."""

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """Whether such leave is still remembered; also where that cannot be read, as then everything is asked."""
