"""Port for permanent permission rules."""

from pathlib import Path
from typing import Protocol

from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import RuleBook


class Permissions(Protocol):
    """Rules that outlive a task."""

    def book(self) -> RuleBook:
        """Return the rules in force. It never raises: files that cannot be read are in the book's `problems`."""

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Save a grant for one folder or for all; `by` says who granted it, and where. Raises OSError."""

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """True if the grant is still saved; also if the files cannot be read, because then every call asks."""
