"""The sub-agents of a task, and the task as one."""

from msgspec.structs import replace

from halocline.protocol.events.subagents import (
    AgentLine,
    AgentMessaged,
    SubagentEnded,
    SubagentStarted,
    Subtask,
)
from halocline.protocol.values import Value


class SubagentsState(Value, frozen=True):
    """Agents that the model may start, and those that run for the task. `subtask` is set for a sub-agent's task.

    `named` are the agents that can be continued. `unreported` is what the model has to be told of: messages of other
    agents, and ends in the background.
    """

    subtask: Subtask | None = None
    available: tuple[AgentLine, ...] = ()
    running: tuple[SubagentStarted, ...] = ()
    named: dict[str, SubagentStarted] = {}
    unreported: tuple[AgentMessaged | SubagentEnded, ...] = ()

    @property
    def in_background(self) -> tuple[SubagentStarted, ...]:
        """Those that run while the task continues."""
        return tuple(lane for lane in self.running if lane.background)

    def after_start(self, event: SubagentStarted) -> "SubagentsState":
        named = {**self.named, event.name: event} if event.is_named else self.named
        return replace(self, running=(*self.running, event), named=named)

    def after_end(self, event: SubagentEnded) -> "SubagentsState":
        ended = [lane for lane in self.running if lane.child == event.child]
        unreported = (*self.unreported, event) if any(lane.background for lane in ended) else self.unreported
        return replace(self, running=tuple(lane for lane in self.running if lane not in ended), unreported=unreported)

    def after_message(self, event: AgentMessaged) -> "SubagentsState":
        return replace(self, unreported=(*self.unreported, event))
