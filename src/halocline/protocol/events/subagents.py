"""Sub-agents in the log: each is a task of its own, and the task that started it is its parent.

What must stay true: a parent's log names every child that it started, how the child ended and what it cost.
"""

from enum import StrEnum

from halocline.protocol.events.durable import Durable, Transient
from halocline.protocol.kinds import ApprovalSwitch, Grant
from halocline.protocol.messages import Usage, UserPart
from halocline.protocol.values import Value


class LaneEnd(StrEnum):
    """Outcome of a sub-agent. `limit`: it used up its own budget."""

    DONE = "done"
    LIMIT = "limit"
    STOPPED = "stopped"
    FAILED = "failed"


class Subtask(Value, frozen=True):
    """The link of a sub-agent's task to its parent: parent task, call, agent and budget.

    `steps` and `seconds` are per turn. None: no limit. `cost` is US dollars in total, in older logs: now the parent's
    limits hold for all its sub-agents together. `grants`, `refusals` and
    `switches` are the person's decisions when it started; the rule `answered` asked about the call, and does not ask
    again. `writes`: it may change files, in a worktree of its own. `depth` is 1 for an agent of a person's task.
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
    writes: bool = False
    depth: int = 1

    @property
    def actor(self) -> str:
        """Name of the agent for rules."""
        return self.agent or "subagent"


class AgentLine(Value, frozen=True):
    """An agent defined in a file, as listed for the model."""

    name: str
    description: str


class SubagentStarted(Durable, frozen=True):
    """A sub-agent started as task `child`, for `call`. `remarks` list parts of its definition that do not apply.

    One that writes works in the `worktree` of that name. `background`: its call ends at once, and its end is reported
    later. `is_named`: the same name continues it.
    """

    call: str
    child: str
    name: str
    prompt: str
    agent: str = ""
    model: str = ""
    remarks: tuple[str, ...] = ()
    worktree: str = ""
    background: bool = False
    is_named: bool = False


class SubagentProgressed(Transient, frozen=True):
    """A sub-agent's current activity, and its usage so far."""

    call: str
    child: str
    doing: str = ""
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0


TO_TAKE = "To take them:"
"""Begins the part of a review that says how its changes are taken."""


class SubagentEnded(Durable, frozen=True):
    """A sub-agent ended. `report` is the beginning of its answer, `problem` says what went wrong.

    Its steps and usage count toward its parent's; `cost` is in US dollars, None if a price was unknown.
    `assumed_tokens` and `assumed_cost` are what its requests without a report may have taken; `known_cost` is the sum
    of those with one, where `cost` is None. `review` describes what it changed and what it did not check. `refused`
    are the first calls that it was not allowed, each with the reason, for people.
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
    assumed_tokens: int = 0
    assumed_cost: float = 0.0
    known_cost: float = 0.0
    review: str = ""
    refused: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """The beginning of its review for people: what it changed, ran and did not check, without the diff."""
        return self.review.partition(f"\n{TO_TAKE}")[0]

    @property
    def known_sum(self) -> float:
        """US dollars of all requests whose price was known."""
        return self.known_cost if self.cost is None else self.cost


class AgentMessaged(Durable, frozen=True):
    """A message arrived from another agent of the same tree: its parent, a child, or one that its parent started."""

    sender: str
    text: str


class AgentsReported(Durable, frozen=True):
    """The model was told of messages that arrived, and of agents in the background that ended."""

    content: tuple[UserPart, ...]


SubagentEvent = SubagentStarted | SubagentEnded | AgentMessaged | AgentsReported
