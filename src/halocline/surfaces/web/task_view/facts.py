"""The facts of a task, which a page shows besides its rows: in the header, the dock and the composer.

They are frozen and share what did not change, so that a change is found by identity and sent as a difference.
"""

from typing import Literal

from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Choice, Grant, Mode, Todo, ToolKind
from halocline.protocol.messages import Effort, StopReason, Usage
from halocline.protocol.values import Value


class Fact(Value, frozen=True, omit_defaults=False):
    """A value of which a page gets every field."""


class PromptFact(Fact, frozen=True):
    """A prompt; `steering` when a turn was already running. Of a long one `text` is the beginning, and it `is_cut`."""

    seq: int
    at: float
    text: str
    steering: bool = False
    is_cut: bool = False


class TurnFact(Fact, frozen=True):
    """A turn from event `seq` to `end` (0: it runs). `finished` when it ended with a completion.

    It wrote `files` files. `cost` is in US dollars, None when a price was unknown.
    """

    seq: int
    end: int = 0
    files: int = 0
    cost: float | None = 0.0
    finished: bool = False


class CheckpointFact(Fact, frozen=True):
    seq: int
    at: float
    checkpoint: str
    place: str


class RewindFact(Fact, frozen=True):
    """A rewind of the files, which changed `changed` of them and could not restore `left`, or of the chat."""

    seq: int
    kind: Literal["files", "chat"]
    undo: str = ""
    changed: int = 0
    left: int = 0


class Waiting(Fact, frozen=True):
    """A pending approval of a call, whose kind is `tool`, or a pending question."""

    kind: Literal["approval", "question"]
    request: str
    call: str
    title: str = ""
    tool: ToolKind = ToolKind.OTHER
    reason: str = ""
    rule: str = ""
    grant: Grant | None = None
    wider: Grant | None = None
    question: str = ""
    options: tuple[str, ...] = ()


class QueuedFact(Fact, frozen=True):
    """A message that waits, with so many `attachments`; the other fields are those of `QueuedMessage`."""

    id: int
    text: str
    attachments: int
    steers: bool
    is_held: bool
    reason: str


class DecisionFact(Fact, frozen=True):
    seq: int
    request: str
    by: str
    client: str
    decision: Choice
    at: float


class JobFact(Fact, frozen=True):
    job: str
    command: str
    call: str


class RunningTool(Fact, frozen=True):
    name: str
    title: str
    kind: ToolKind


class Retry(Fact, frozen=True):
    """A wait of so many seconds before the request is sent again; with attempt 0, before it is sent at all."""

    cause: str
    wait: float
    attempt: int = 1


class Failure(Fact, frozen=True):
    seq: int
    code: str
    text: str
    hint: str


class EndFact(Fact, frozen=True):
    """The end of the newest turn that the model sees. `failed` is as in `TurnEnded`."""

    seq: int
    reason: StopReason
    text: str
    failed: tuple[str, ...] = ()


Activity = Literal["", "model", "thinking", "writing", "tool", "retry"]


class TaskFacts(Fact, frozen=True):
    """The facts of a task after event `seq`.

    `parent` is the parent task of a sub-agent. `switches` are those set in this task: true allows, false asks, None
    follows the mode. `step` is the current item of the to-do list. `context` and `window` are in tokens (0: unknown),
    `spent` is the known part of `cost`.
    `begun` is the event that started the turn or went on with it, `since` and `activity_since` are Unix seconds.
    `changed` are the paths that edit tools wrote, `unasked` the calls without approval by kind. `permissions_at` is
    the event that last changed a permission. `left` are the ranges of rows, by number, that a rewind left behind.
    """

    seq: int = 0
    title: str = ""
    name: str = ""
    favourite: bool = False
    parent: str = ""
    workspace: str = ""
    roots: tuple[str, ...] = ()
    model: str = ""
    mode: Mode = Mode.ACT
    approvals: ApprovalMode = ApprovalMode.ASK
    effort: Effort | None = None
    budget: int | None = None
    switches: dict[ApprovalSwitch, bool | None] = {}
    permissions_at: int = 0
    todos: tuple[Todo, ...] = ()
    step: str = ""
    usage: Usage = Usage()
    cost: float | None = 0.0
    spent: float = 0.0
    context: int = 0
    window: int = 0
    running: bool = False
    begun: int = 0
    since: float = 0.0
    activity: Activity = ""
    activity_since: float = 0.0
    tool: RunningTool | None = None
    retry: Retry | None = None
    waiting: tuple[Waiting, ...] = ()
    queue: tuple[QueuedFact, ...] = ()
    decided: tuple[DecisionFact, ...] = ()
    unasked: dict[ToolKind, int] = {}
    prompts: tuple[PromptFact, ...] = ()
    turns: tuple[TurnFact, ...] = ()
    last: EndFact | None = None
    error: Failure | None = None
    checkpoints: tuple[CheckpointFact, ...] = ()
    rewinds: tuple[RewindFact, ...] = ()
    compactions: int = 0
    changed: tuple[str, ...] = ()
    jobs: tuple[JobFact, ...] = ()
    left: tuple[tuple[int, int], ...] = ()
