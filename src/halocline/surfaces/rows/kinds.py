"""The rows of a transcript: frozen values that each surface renders."""

from typing import Literal

from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.events.hooks import HookDecision, HookPoint, HookStatus
from halocline.protocol.events.instructions import InstructionFile
from halocline.protocol.events.subagents import LaneEnd
from halocline.protocol.kinds import (
    ApprovalMode,
    CallStatus,
    Choice,
    Diff,
    Grant,
    Location,
    Mode,
    Scope,
    Todo,
    ToolKind,
)
from halocline.protocol.messages import Image, StopReason, Usage, UserPart
from halocline.protocol.permission_rules import CommandPart, Grade
from halocline.protocol.state.evidence.findings import Evidence
from halocline.protocol.values import JsonObject, Tagged, Value


class StartRow(Tagged, frozen=True):
    """The start of the task."""

    workspace: str
    model: str
    mode: Mode
    approval_mode: ApprovalMode
    roots: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders of the task."""
        return (self.workspace, *self.roots)


class PromptRow(Tagged, frozen=True):
    """A prompt; `steering` when a turn was already running.

    `attached` are its parts that are not text. `names`, at the end of `text`, are of those that a person put there;
    `typed` is then the text without them.
    """

    text: str
    seq: int = 0
    steering: bool = False
    at: float = 0.0
    attached: tuple[UserPart, ...] = ()
    typed: str = ""
    names: tuple[str, ...] = ()


class ThoughtRow(Tagged, frozen=True):
    text: str
    draft: bool = False


class ReplyRow(Tagged, frozen=True):
    """A reply of the model, as Markdown."""

    text: str
    draft: bool = False


class Approval(Value, frozen=True):
    """The approval of a call; `decision` is None until it is made. If it is `edited`, so are title and arguments.

    `refused` are files of an edit that the person left out of it. `agent` is the sub-agent that asks: it made the call.
    """

    request: str
    reason: str
    detail: str = ""
    diffs: tuple[Diff, ...] = ()
    decision: Choice | None = None
    by: str = ""
    note: str = ""
    grant: Grant | None = None
    scope: Scope = Scope.TASK
    place: str = ""
    parts: tuple[CommandPart, ...] = ()
    sandbox: str = ""
    client: str = ""
    at: float = 0.0
    edited: bool = False
    refused: tuple[str, ...] = ()
    wider: Grant | None = None
    grade: Grade = Grade.ORDINARY
    agent: str = ""


class Lane(Value, frozen=True):
    """A sub-agent of a call: task `child`. `end` is None while it runs, `doing` its current activity.

    Without a `model` it never started. `tokens` is the total, `cost` in US dollars, None when a price was unknown.
    `outcome` says what one that writes changed and ran.
    """

    child: str
    name: str
    prompt: str
    agent: str = ""
    model: str = ""
    remarks: tuple[str, ...] = ()
    end: LaneEnd | None = None
    doing: str = ""
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    report: str = ""
    outcome: str = ""
    problem: str = ""
    refused: tuple[str, ...] = ()
    started_at: float = 0.0
    seconds: float | None = None


class CallRow(Tagged, frozen=True):
    """A tool call. `status` is None while it is open, `started_at` (Unix seconds) is None until it runs.

    `foreign`: the tool and the text of its result are an MCP server's: the `tool` of a `server`. `subject` is what that
    was called with, or what a call of ours reads or searches for.
    `own`: a command of the user. `lanes` are its sub-agents. `failure` says how a command failed, although the tool
    succeeded. `answer` is the meaning of exit code 1 that is not a failure, as of `grep` and `diff`. Processes that a
    command left running are its `job`; `child` is the task that it handed the work over to. `console` are the lines of
    a browser page's console. `seq` is the event of the reply that made the call, or of the user's command.
    `for_person` says in a line how a call failed; `output` has the whole text that the model read.
    """

    call: str
    name: str
    title: str
    kind: ToolKind = ToolKind.OTHER
    status: CallStatus | None = None
    arguments: JsonObject = {}
    locations: tuple[Location, ...] = ()
    output: str = ""
    diffs: tuple[Diff, ...] = ()
    images: tuple[Image, ...] = ()
    approval: Approval | None = None
    started_at: float | None = None
    seconds: float | None = None
    ends_turn: bool = False
    foreign: bool = False
    own: bool = False
    lanes: tuple[Lane, ...] = ()
    failure: str = ""
    answer: str = ""
    server: str = ""
    tool: str = ""
    subject: str = ""
    job: str = ""
    child: str = ""
    console: tuple[str, ...] = ()
    seq: int = 0
    for_person: str = ""


class QuestionRow(Tagged, frozen=True):
    """A question to the person; `by` is empty until it has an answer."""

    request: str
    question: str
    options: tuple[str, ...] = ()
    call: str = ""
    answer: str = ""
    by: str = ""


class TodosRow(Tagged, frozen=True):
    """The to-do list; `by` is model or person."""

    todos: tuple[Todo, ...]
    by: str = "model"


class CheckpointRow(Tagged, frozen=True):
    checkpoint: str
    label: str
    at: float = 0.0


class RestoredRow(Tagged, frozen=True):
    """Files were restored by event `seq`; `undo` is the checkpoint that undoes it.

    `both`: the conversation was rewound with them. `undone` is as in the notice of that. `left_out` says what no
    checkpoint holds, a line for each reason.
    """

    checkpoint: str
    undo: str
    changed: tuple[str, ...] = ()
    seq: int = 0
    both: bool = False
    undone: bool = False
    left_out: tuple[str, ...] = ()


class RetryRow(Tagged, frozen=True):
    """A failed request is retried after `wait` seconds, with `model` if that is another; the draft is void.

    It is retry number `attempt` of `most` (0: unknown); with attempt 0 nothing failed, but it waits for its place.
    """

    attempt: int
    wait: float
    cause: str
    model: str = ""
    most: int = 0


class JobEndRow(Tagged, frozen=True):
    """The end of a background job. That it became a job is in the row of its call."""

    job: str
    command: str
    exit_code: int | None = None
    stopped: str = ""


class RulesRow(Tagged, frozen=True):
    """Rule files that apply from now on, each with the reason, and those that no longer do."""

    files: tuple[InstructionFile, ...]
    gone: tuple[str, ...] = ()


class CompactionRow(Tagged, frozen=True):
    """The conversation was compacted, with its tokens before and after; without a cause, that was undone.

    The `summary` is the model's, with a `focus` if a person gave one.
    """

    cause: CompactionCause | None = None
    before: int = 0
    after: int = 0
    summary: str = ""
    focus: str = ""


class HookRow(Tagged, frozen=True):
    """A hook that blocked, failed or takes long; others are not shown. Without a status it runs, and `run` stops it."""

    hook: str
    moment: HookPoint
    status: HookStatus | None = None
    decision: HookDecision = HookDecision.NONE
    said: str = ""
    seconds: float = 0.0
    run: str = ""
    output: str = ""


class NoticeRow(Tagged, frozen=True):
    """A notice; `task` is another task that it is about.

    Of a rewind, `seq` is its event, `undoes` that of one that it took back, and `place` where it leads, if nothing else
    is to be said. What is `undone` need not be shown.
    Of a goal's check, `met` is its outcome.
    """

    text: str
    task: str = ""
    seq: int = 0
    undoes: int = 0
    place: str = ""
    undone: bool = False
    met: bool | None = None


Remedy = Literal["key", "credit", "wait", "compact", "model", "retry", "none"]
"""What helps against an error: a key, more credit, waiting, a smaller context, another model, or another try."""


class ErrorRow(Tagged, frozen=True):
    code: str
    text: str
    hint: str = ""
    remedy: Remedy = "retry"


class TurnEndRow(Tagged, frozen=True):
    """The end of a turn. `cost` is in US dollars, None when a price was unknown; `seconds` is its duration.

    `repeats`: its text is that of an error above. `failed` is what failed last before it. `evidence` is what the log
    proves about its work.
    """

    reason: StopReason
    limit: str = ""
    text: str = ""
    usage: Usage = Usage()
    cost: float | None = 0.0
    steps: int = 0
    seconds: float = 0.0
    at: float = 0.0
    evidence: Evidence = Evidence()
    repeats: bool = False
    failed: tuple[str, ...] = ()


Said = StartRow | PromptRow | ThoughtRow | ReplyRow | CallRow | QuestionRow | TodosRow | NoticeRow | ErrorRow
Happened = CheckpointRow | RestoredRow | RetryRow | JobEndRow | RulesRow | CompactionRow | HookRow | TurnEndRow
Row = Said | Happened
