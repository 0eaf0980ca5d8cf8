"""Events: past-tense facts, the only memory a task has.

A *durable* event is written to the log and carries `seq` (from 1, without gaps), `at` (Unix seconds) and `task`.
A *transient* event is only shown; it is never written and carries none of the three. The base class decides which
of the two an event is. There is no event per tool, no snapshot in an event and no JSON inside a text field.
"""

from halocline.protocol.changed import (
    ApprovalSwitched as ApprovalSwitched,
    EffortChanged as EffortChanged,
    GrantTakenBack as GrantTakenBack,
    ModelChanged as ModelChanged,
    PolicyChanged as PolicyChanged,
)
from halocline.protocol.compaction import (
    Compacted as Compacted,
    CompactionCause as CompactionCause,
    CompactionStarted as CompactionStarted,
    CompactionUndone as CompactionUndone,
)
from halocline.protocol.event_kinds import Durable as Durable, Transient as Transient, Unrecognised as Unrecognised
from halocline.protocol.going_back import (
    CheckpointRestored as CheckpointRestored,
    CheckpointTaken as CheckpointTaken,
    ConversationRestored as ConversationRestored,
    RootsChanged as RootsChanged,
    TaskForked as TaskForked,
)
from halocline.protocol.hook_kinds import HookDecision, HookPoint, HookSource, HookStatus
from halocline.protocol.imported import Imported as Imported, Origin as Origin, TaskAdopted as TaskAdopted
from halocline.protocol.instructions import InstructionsLoaded as InstructionsLoaded
from halocline.protocol.jobs import JobEnded as JobEnded, JobStarted as JobStarted
from halocline.protocol.kinds import (
    ApprovalMode as ApprovalMode,
    ApprovalSwitch as ApprovalSwitch,
    CallStatus as CallStatus,
    Choice as Choice,
    Diff as Diff,
    Grant as Grant,
    Location as Location,
    Mode as Mode,
    Remark as Remark,
    SandboxStanding as SandboxStanding,
    Scope as Scope,
    Todo as Todo,
    TodoStatus as TodoStatus,
    ToolKind as ToolKind,
)
from halocline.protocol.labels import TaskLabelled as TaskLabelled
from halocline.protocol.limits import Limits, LimitsChanged as LimitsChanged
from halocline.protocol.machine_events import (
    PageShown as PageShown,
    SandboxChecked as SandboxChecked,
    ShellMoved as ShellMoved,
)
from halocline.protocol.mcp import (
    McpEvent,
    McpOffered as McpOffered,
    McpReported as McpReported,
    McpSampled as McpSampled,
)
from halocline.protocol.messages import AssistantMessage, StopReason, ToolResult, Usage, UserPart
from halocline.protocol.news_events import (
    DiagnosticsReported as DiagnosticsReported,
    EnvironmentReported as EnvironmentReported,
    FilesChangedOutside as FilesChangedOutside,
    JobsReported as JobsReported,
    TodosChanged as TodosChanged,
    TodosReminded as TodosReminded,
    TurnResumed as TurnResumed,
)
from halocline.protocol.own_commands import (
    OwnCommandEnded as OwnCommandEnded,
    OwnCommandsReported as OwnCommandsReported,
    OwnCommandStarted as OwnCommandStarted,
)
from halocline.protocol.permission_rules import CommandPart as CommandPart, RuleBook
from halocline.protocol.queries.mentions import MentionsResolved as MentionsResolved
from halocline.protocol.questions import (
    AnswerAccepted as AnswerAccepted,
    AnswerRefused as AnswerRefused,
    QuestionAnswered as QuestionAnswered,
    QuestionAsked as QuestionAsked,
)
from halocline.protocol.state.file_knowledge import SeenFile as SeenFile
from halocline.protocol.subtasks import AgentLine, SubagentEvent, SubagentProgressed as SubagentProgressed, Subtask
from halocline.protocol.values import JsonObject


class TaskStarted(Durable, frozen=True):
    """A task began. The system prompt is fixed here, so that later requests repeat it byte for byte.

    `compact` means a compact system prompt and tools, for models with a small window. `window` is the model's context
    window in tokens, if known in advance. A fork starts with the events of `forked_from` up to `forked_at`. A task
    with an `origin` ran in another program: the model is that program's, and there is no system prompt until the task
    is adopted. `roots` are additional folders of the task. `subtask` marks a sub-agent's task. Logs of older versions
    have no `limits`.
    """

    workspace: str
    model: str
    mode: Mode
    approval_mode: ApprovalMode
    system_prompt: str
    version: str
    format: int = 1
    compact: bool = False
    forked_from: str = ""
    forked_at: int = 0
    origin: Origin | None = None
    window: int | None = None
    roots: tuple[str, ...] = ()
    subtask: Subtask | None = None
    limits: Limits | None = None


class LogRepaired(Durable, frozen=True):
    """The log was repaired: an incomplete last line was cut after a crash, or damage was repaired on request.

    In the second case, `put_aside` names the file next to it with the original log.
    """

    bytes_cut: int
    put_aside: str = ""


class TurnStarted(Durable, frozen=True):
    """A turn started with this prompt. `output_schema` is the JSON Schema that its answer must match."""

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None


class SteeringReceived(Durable, frozen=True):
    """A message came during a turn. It answers a pending question or approval; the model reads it after the calls."""

    content: tuple[UserPart, ...]


class TurnEnded(Durable, frozen=True):
    """The turn ended. If a limit ended it, `limit` names it; `text` is for people."""

    reason: StopReason
    limit: str = ""
    text: str = ""


class StepStarted(Durable, frozen=True):
    """A model request was sent."""

    model: str


class StepRetried(Transient, frozen=True):
    """The request failed and will be retried in `wait` seconds, with `model` if set; discard what was streamed.

    This is retry number `attempt`, out of `most` for this kind of failure (0: unknown).
    """

    attempt: int
    wait: float
    cause: str
    model: str = ""
    most: int = 0


class UsageReported(Durable, frozen=True):
    """Tokens and cost of the step. `cost` is in US dollars; None if the price is unknown (never 0 for that)."""

    usage: Usage
    cost: float | None = None
    window: int | None = None


class TextDelta(Transient, frozen=True):
    """New text of a reply. `apart` starts a separate message instead of continuing the last one."""

    text: str
    apart: bool = False


class ThinkingDelta(Transient, frozen=True):
    """New reasoning of a reply."""

    text: str


class ToolCallDelta(Transient, frozen=True):
    """A piece of a tool call that the model is still writing; for previews only."""

    call: str
    name: str
    arguments: str


class EditPreviewed(Transient, frozen=True):
    """Preview of an edit whose call the model is still writing; only for clients that asked for it.

    `number` counts blocks and hunks; `line` is the position of the newest one (None: unknown). `lines` are its newest
    lines, each prefixed with `+`, `-` or a space.
    """

    call: str
    name: str
    path: str = ""
    number: int = 0
    line: int | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] = ()


class AssistantMessageCompleted(Durable, frozen=True):
    """The complete reply of one step."""

    message: AssistantMessage


class ToolCallStarted(Durable, frozen=True):
    """The call passed the gate and runs now. `rule` names what allowed it.

    `runs` is the command that actually runs, if that differs from the title; `sandbox` describes its sandbox.
    `scripts` are files that it runs, each with the hash of its content.
    """

    call: str
    name: str
    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()
    rule: str = ""
    runs: str = ""
    sandbox: str = ""
    scripts: tuple[str, ...] = ()


class ToolCallProgressed(Transient, frozen=True):
    """New output of a running tool call."""

    call: str
    text: str


class ToolCallEnded(Durable, frozen=True):
    """The tool call ended. `result` is what the model reads, `diffs` are for people, `seen` are the files it read."""

    call: str
    name: str
    status: CallStatus
    result: ToolResult
    diffs: tuple[Diff, ...] = ()
    ends_turn: bool = False
    seen: tuple[SeenFile, ...] = ()


class ApprovalRequested(Durable, frozen=True):
    """A tool call needs approval. `rule` and `reason` say why; `grant` is what *always allow* would permit.

    `wider` is a more general grant on offer. `place` is where a command would run, if not in the workspace; `parts`
    are the commands found in it, and `sandbox` describes its sandbox.
    """

    request: str
    call: str
    name: str
    title: str
    kind: ToolKind
    reason: str
    options: tuple[Choice, ...]
    detail: str = ""
    diffs: tuple[Diff, ...] = ()
    grant: Grant | None = None
    place: str = ""
    rule: str = ""
    wider: Grant | None = None
    parts: tuple[CommandPart, ...] = ()
    sandbox: str = ""


class ApprovalResolved(Durable, frozen=True):
    """An approval was decided. `arguments` replace those of the call; `scope` is how far `grant` reaches.

    The model reads `note` and `content` (images, and notes about them) with the result of the call.

    `by` is user, nobody (no one could answer), interrupt, or message: you sent a message (the `SteeringReceived` before
    it) instead of deciding, so no pending call runs.
    """

    request: str
    call: str
    decision: Choice
    by: str
    note: str = ""
    client: str = ""
    grant: Grant | None = None
    arguments: JsonObject | None = None
    scope: Scope = Scope.TASK
    content: tuple[UserPart, ...] = ()


class LimitExtended(Durable, frozen=True):
    """You let the task continue past a limit; its count starts over."""

    limit: str


class ModeChanged(Durable, frozen=True):
    """You switched between plan and act mode; the model cannot."""

    mode: Mode


class RulesChanged(Durable, frozen=True):
    """The permission rules changed; these, from files, replace the old ones."""

    book: RuleBook


class ToolsOffered(Durable, frozen=True):
    """The model is now offered these tools besides those of every task; a sub-agent has only these.

    `agents` are the agents it can start as sub-agents.
    """

    tools: tuple[str, ...]
    agents: tuple[AgentLine, ...] = ()


class HandedOver(Durable, frozen=True):
    """You approved a new task, `to`, that continues this work; `context` is all it starts with."""

    to: str
    context: str


class FileChanged(Durable, frozen=True):
    """An edit tool wrote or removed a file. `before` and `after` are blobs; None means that the file did not exist."""

    path: str
    before: str | None
    after: str | None
    cause: str


class HookRan(Durable, frozen=True):
    """A hook ran. `said` is its reason, or why it failed; a failed hook may block too.

    `content` is what it adds for the model: to the conversation, or to the result of `call` if it ran for one.
    `arguments` replace the call's input. `stops` ends the turn.
    """

    hook: str
    moment: HookPoint
    source: HookSource
    status: HookStatus
    call: str = ""
    decision: HookDecision = HookDecision.NONE
    exit_code: int | None = None
    seconds: float = 0.0
    said: str = ""
    content: tuple[UserPart, ...] = ()
    arguments: JsonObject | None = None
    stops: bool = False


class Noticed(Transient, frozen=True):
    """A notice for you that the task does not need."""

    text: str


class ErrorRaised(Durable, frozen=True):
    """Something failed. `hint` says what to do next."""

    code: str
    text: str
    hint: str = ""
    retryable: bool = False


DurableEvent = (
    TaskStarted
    | TaskAdopted
    | RootsChanged
    | LogRepaired
    | TurnStarted
    | SteeringReceived
    | TurnEnded
    | TurnResumed
    | StepStarted
    | UsageReported
    | AssistantMessageCompleted
    | ToolCallStarted
    | ToolCallEnded
    | ApprovalRequested
    | ApprovalResolved
    | QuestionAsked
    | QuestionAnswered
    | AnswerAccepted
    | AnswerRefused
    | LimitExtended
    | TodosChanged
    | CompactionStarted
    | Compacted
    | CompactionUndone
    | TodosReminded
    | ModeChanged
    | ModelChanged
    | EffortChanged
    | LimitsChanged
    | GrantTakenBack
    | PolicyChanged
    | ApprovalSwitched
    | RulesChanged
    | ToolsOffered
    | McpEvent
    | SubagentEvent
    | TaskLabelled
    | HandedOver
    | Imported
    | FileChanged
    | CheckpointTaken
    | CheckpointRestored
    | ConversationRestored
    | TaskForked
    | ShellMoved
    | PageShown
    | SandboxChecked
    | JobStarted
    | JobEnded
    | JobsReported
    | OwnCommandStarted
    | OwnCommandEnded
    | OwnCommandsReported
    | DiagnosticsReported
    | InstructionsLoaded
    | FilesChangedOutside
    | EnvironmentReported
    | MentionsResolved
    | HookRan
    | ErrorRaised
    | Unrecognised
)
Streamed = TextDelta | ThinkingDelta | ToolCallDelta | ToolCallProgressed
TransientEvent = StepRetried | Streamed | EditPreviewed | SubagentProgressed | Noticed
Event = DurableEvent | TransientEvent
