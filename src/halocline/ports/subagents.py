"""The door to sub-agents: how a tool has several tasks look into things at once, and hears what each found."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.subtasks import SubagentEnded
from halocline.protocol.values import Value


class Wanted(Value, frozen=True):
    """One sub-agent: what it is to do, what it is called, and which described agent it is; empty: an ordinary one."""

    prompt: str
    name: str
    agent: str = ""


class Report(Value, frozen=True):
    """What a sub-agent said in full, how it ended, how many seconds it took, and what of its description fails."""

    said: str
    ended: SubagentEnded
    seconds: float
    remarks: tuple[str, ...] = ()


class Subagents(Protocol):
    """The sub-agents of one task."""

    async def run(self, wanted: Sequence[Wanted], call: str, rule: str) -> tuple[Report, ...]:
        """Have them all work, and wait for the last one; a report each, in their order. Cancelling stops them all.

        What the `rule` asked about, when it did, a person has allowed for them as well.

        Raises:
            ToolFailure: one is to be an agent that nobody described; then none was begun.
        """
