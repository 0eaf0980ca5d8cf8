"""Sub-agents, as a task and its log know them: each is a task of its own, and the one that began it is its parent.

What must stay true: a parent's log names every child that it began and says how that one ended and what it took.
"""

from enum import StrEnum

from halocline.protocol.event_kinds import Durable, Transient
from halocline.protocol.kinds import ApprovalSwitch, Grant
from halocline.protocol.messages import Usage
from halocline.protocol.values import Value


class LaneEnd(StrEnum):
    """How a sub-agent ended. `limit`: a budget of its own was used up."""

    DONE = "done"
    LIMIT = "limit"
    STOPPED = "stopped"
    FAILED = "failed"


class Subtask(Value, frozen=True):
    """What makes a task another one's child: whose, by which call, as which agent, and its budget.

    `steps` and `seconds` are per turn, `cost` is US dollars in all. None: no limit. `grants`, `refusals` and
    `switches` are what the person had said when it began; `answered` is the rule that asked about the call: it asks no
    more.
    """

    parent: str
    call: str
    name: str
    agent: str = ""
    steps: int | None = None
    cost: float | None = None
    seconds: float | None = None
    grants: tuple[Grant, ...] = ()
    refusals: tuple[Grant, ...] = ()
    answered: str = ""
    switches: dict[ApprovalSwitch, bool | None] = {}

    @property
    def actor(self) -> str:
        """Who acts, for rules that speak of agents by name."""
        return self.agent or "subagent"


class AgentLine(Value, frozen=True):
    """An agent that a file describes, as the model is told of it."""

    name: str
    description: str


class SubagentStarted(Durable, frozen=True):
    """A sub-agent began, as task `child`, while `call` ran. `remarks` are what of its description does not hold."""

    call: str
    child: str
    name: str
    prompt: str
    agent: str = ""
    model: str = ""
    remarks: tuple[str, ...] = ()


class SubagentProgressed(Transient, frozen=True):
    """What a sub-agent does now, and what it took so far."""

    call: str
    child: str
    doing: str = ""
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0


class SubagentEnded(Durable, frozen=True):
    """A sub-agent is done. `report` is the beginning of what it said, `problem` why there is no more.

    What it took counts as its parent's; `cost` is in US dollars, None when a price was unknown.
    """

    call: str
    child: str
    name: str
    end: LaneEnd
    report: str = ""
    problem: str = ""
    steps: int = 0
    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0


SubagentEvent = SubagentStarted | SubagentEnded
