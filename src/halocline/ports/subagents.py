"""Port for sub-agents: a tool runs several tasks at once and gets a report from each."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.values import Value


class Wanted(Value, frozen=True):
    """A sub-agent to run: its prompt, its name, and the agent that it is; empty for a plain one."""

    prompt: str
    name: str
    agent: str = ""


class Report(Value, frozen=True):
    """A sub-agent's full answer, end and duration; `remarks` list parts of its definition that do not apply."""

    said: str
    ended: SubagentEnded
    seconds: float
    remarks: tuple[str, ...] = ()


class Subagents(Protocol):
    """The sub-agents of one task."""

    async def run(self, wanted: Sequence[Wanted], call: str, rule: str) -> tuple[Report, ...]:
        """Run all sub-agents and wait for the last; return their reports in order. Cancellation stops them all.

        If `rule` asked for approval of the call, that approval covers them too.

        Raises:
            ToolFailure: an agent is not defined; then none was started.
        """
