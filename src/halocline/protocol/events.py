"""What happened: past-tense facts, the only memory a task has.

A *durable* event is written to the log and carries `seq` (from 1, without gaps), `at` (Unix seconds) and `task`.
A *transient* event is only shown; it is never written and carries none of the three. Every event chooses one of the
two by its base class. There is no event per tool, no snapshot in an event and no JSON inside a text field.
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
from halocline.protocol.hook_kinds import HookDecision, HookMoment, HookSource, HookStatus
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

    When it is `compact`, so are the tools: for models with a small window. `window` is how many tokens the model can
    read, where that is known before it was asked. A fork has the events of `forked_from` up to `forked_at` before its
    own. With an `origin` it happened in another program: that one's model, and no system prompt until it is adopted.
    `roots` are the folders beside the workspace that it works in as well. A `subtask` is a sub-agent's.
    Logs of older versions do not say the `limits`.
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
    """A torn last line was cut when the log was opened after a crash; or the log was damaged, and mended on request.

    Then `put_aside` names the file beside it that holds the log as it was.
    """

    bytes_cut: int
    put_aside: str = ""


class TurnStarted(Durable, frozen=True):
    """A prompt was taken up. `output_schema` is the JSON Schema that its answer has to fit."""

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None


class SteeringReceived(Durable, frozen=True):
    """Text that was sent while the turn ran. While something is asked it answers that, and is read after the calls."""

    content: tuple[UserPart, ...]


class TurnEnded(Durable, frozen=True):
    """The turn is over. When a limit ended it, `limit` names which one; `text` says it in words."""

    reason: StopReason
    limit: str = ""
    text: str = ""


class StepStarted(Durable, frozen=True):
    """One request to a model was made."""

    model: str


class StepRetried(Transient, frozen=True):
    """The request failed and is made again after `wait` seconds, of `model` if that is another; what came is void.

    It is the `attempt`th repetition, of `most` that would be made of this failure (0: not known).
    """

    attempt: int
    wait: float
    cause: str
    model: str = ""
    most: int = 0


class UsageReported(Durable, frozen=True):
    """What the step took. `cost` is in US dollars; None when the price is unknown (never 0 for that)."""

    usage: Usage
    cost: float | None = None
    window: int | None = None


class TextDelta(Transient, frozen=True):
    """New words of a reply. `apart` begins a message of its own, not the next words of the last one."""

    text: str
    apart: bool = False


class ThinkingDelta(Transient, frozen=True):
    text: str


class ToolCallDelta(Transient, frozen=True):
    """A piece of a call that is still being written; for previews only."""

    call: str
    name: str
    arguments: str


class EditPreviewed(Transient, frozen=True):
    """How an edit looks while its call is still being written; only for a client that asked for it.

    `number` counts blocks and hunks, `line` is where the newest one belongs (None: not known). `lines` are the newest
    ones, each with its sign (`+`, `-` or a blank) before it.
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
    """The whole reply of one step."""

    message: AssistantMessage


class ToolCallStarted(Durable, frozen=True):
    """The call runs now: every gate is passed. `rule` names what let it pass.

    `runs` is the form of a command that runs, when it is not the title; `sandbox` says how it is held. `scripts` are
    files that it runs, with what stands for their content.
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
    """New output of a running call."""

    call: str
    text: str


class ToolCallEnded(Durable, frozen=True):
    """The one end of a call. `diffs` are for the eye; `result` is what the model reads, from the files `seen`."""

    call: str
    name: str
    status: CallStatus
    result: ToolResult
    diffs: tuple[Diff, ...] = ()
    ends_turn: bool = False
    seen: tuple[SeenFile, ...] = ()


class ApprovalRequested(Durable, frozen=True):
    """Somebody must decide about one call. `rule` asks, `reason` says why; `grant` is what *always* would allow.

    `wider` is a more general grant on offer. `place` is where a command would run, when that is not the workspace;
    `parts` are the commands found in it, and `sandbox` says how it would be held.
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
    """The decision. With `arguments`, that ran instead. `scope` is how far `grant` reaches.

    The model reads the `note` and the `content` (pictures, and notes about them) with the result of the call.

    `by` is user, nobody (no one could answer), interrupt, or message: a person sent one (the `SteeringReceived` before
    it) instead of deciding, so nothing that waited runs.
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
    """A person let the task go on past a limit; what it counts begins anew."""

    limit: str


class ModeChanged(Durable, frozen=True):
    """Only a person's wish changes the mode."""

    mode: Mode


class RulesChanged(Durable, frozen=True):
    """These rules are in force from now on; they come from files."""

    book: RuleBook


class ToolsOffered(Durable, frozen=True):
    """From now on the model is offered these tools beside those that every task has; a sub-agent has no others.

    `agents` are those that it may have sub-agents be.
    """

    tools: tuple[str, ...]
    agents: tuple[AgentLine, ...] = ()


class HandedOver(Durable, frozen=True):
    """The person let a new task, `to`, go on from here; `context` is all that it is told."""

    to: str
    context: str


class FileChanged(Durable, frozen=True):
    """An edit tool wrote a file. `before` and `after` are blobs; None means the file did not (or does not) exist."""

    path: str
    before: str | None
    after: str | None
    cause: str


class HookRan(Durable, frozen=True):
    """A hook ran. `said` is its reason, or what went wrong; a decision to block may be its failure's.

    `content` is what it adds for the model: in the conversation, or in the result of `call` when it ran for one.
    `arguments` are what it made of the call's input. With `stops`, the turn ends.
    """

    hook: str
    moment: HookMoment
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
    """Something the person should know and the task does not need."""

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
