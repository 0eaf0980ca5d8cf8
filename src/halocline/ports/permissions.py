"""Ports for permanent permission rules, and for a judge of approvals."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from halocline.protocol.events import ApprovalJudged, ApprovalRequested
from halocline.protocol.kinds import Grant
from halocline.protocol.messages import ToolCall
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.state.state import State

JUDGE = "judge"
"""The `client` and the `by` of an approval that a judge gave."""


class Permissions(Protocol):
    """Rules that outlive a task."""

    def book(self) -> RuleBook:
        """Return the rules in force. It never raises: files that cannot be read are in the book's `problems`."""

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Save a grant for one folder or for all; `by` says who granted it, and where. Raises OSError."""

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """True if the grant is still saved; also if the files cannot be read, because then every call asks."""


class Judge(Protocol):
    """Judges approvals. It may only allow: all else is the person's decision."""

    def may_answer(self, asked: ApprovalRequested, call: ToolCall, state: State) -> bool:
        """True if it may look at this approval of a call, with the arguments that would run, at all."""

    async def judge(self, asked: ApprovalRequested, call: ToolCall, emit: Callable[..., None]) -> ApprovalJudged:
        """Return its verdict, and emit what it cost. Never raises but for cancellation."""
