"""The sub-agents of a task, and the task as one."""

from msgspec.structs import replace

from halocline.protocol.events.subagents import AgentLine, SubagentStarted, Subtask
from halocline.protocol.values import Value


class SubagentsState(Value, frozen=True):
    """Agents that the model may start, and those that run for the task. `subtask` is set for a sub-agent's task."""

    subtask: Subtask | None = None
    available: tuple[AgentLine, ...] = ()
    running: tuple[SubagentStarted, ...] = ()

    def after_start(self, event: SubagentStarted) -> "SubagentsState":
        return replace(self, running=(*self.running, event))

    def after_end(self, child: str) -> "SubagentsState":
        return replace(self, running=tuple(lane for lane in self.running if lane.child != child))
