"""Events: past-tense facts, the only memory a task has.

A *durable* event is written to the log and carries `seq` (from 1, without gaps), `at` (Unix seconds) and `task`.
A *transient* event is only shown; it is never written and carries none of the three. The base class decides which
of the two an event is. There is no event per tool, no snapshot in an event and no JSON inside a text field.
"""

from halocline.protocol.events.approvals import (
    ApprovalJudged as ApprovalJudged,
    ApprovalRequested as ApprovalRequested,
    ApprovalResolved as ApprovalResolved,
    JudgeSwitched as JudgeSwitched,
    RulesChanged as RulesChanged,
)
from halocline.protocol.events.compaction import (
    Compacted as Compacted,
    CompactionStarted as CompactionStarted,
    CompactionUndone as CompactionUndone,
    PicturesLeftOut as PicturesLeftOut,
)
from halocline.protocol.events.context_updates import (
    DiagnosticsReported as DiagnosticsReported,
    EnvironmentReported as EnvironmentReported,
    FilesChangedOutside as FilesChangedOutside,
    JobsReported as JobsReported,
    TodosChanged as TodosChanged,
    TodosReminded as TodosReminded,
    TurnResumed as TurnResumed,
)
from halocline.protocol.events.custom_tools import CustomToolsOffered as CustomToolsOffered
from halocline.protocol.events.durable import Durable as Durable, Transient as Transient, Unrecognised as Unrecognised
from halocline.protocol.events.hooks import HookProgressed as HookProgressed, HookRan as HookRan
from halocline.protocol.events.host import (
    PageShown as PageShown,
    SandboxChecked as SandboxChecked,
    ShellMoved as ShellMoved,
)
from halocline.protocol.events.imports import Imported as Imported, TaskAdopted as TaskAdopted
from halocline.protocol.events.instructions import InstructionsLoaded as InstructionsLoaded
from halocline.protocol.events.jobs import JobEnded as JobEnded, JobStarted as JobStarted
from halocline.protocol.events.labels import TaskLabelled as TaskLabelled
from halocline.protocol.events.limits import (
    LimitExtended as LimitExtended,
    LimitsChanged as LimitsChanged,
    RequestReserved as RequestReserved,
    RequestSettled as RequestSettled,
)
from halocline.protocol.events.mcp import (
    McpEvent as McpEvent,
    McpOffered as McpOffered,
    McpReported as McpReported,
    McpSampled as McpSampled,
    McpToolRefused as McpToolRefused,
)
from halocline.protocol.events.mentions import MentionsResolved as MentionsResolved
from halocline.protocol.events.message_queue import (
    MessageQueued as MessageQueued,
    MessageWithdrawn as MessageWithdrawn,
    QueuedMessageEdited as QueuedMessageEdited,
    QueueEvent as QueueEvent,
    QueueHeld as QueueHeld,
    QueueReleased as QueueReleased,
)
from halocline.protocol.events.plugins import PluginsLoaded as PluginsLoaded
from halocline.protocol.events.questions import (
    AnswerAccepted as AnswerAccepted,
    AnswerRefused as AnswerRefused,
    CompletionQuestioned as CompletionQuestioned,
    CompletionRequired as CompletionRequired,
    GoalChecked as GoalChecked,
    GoalSet as GoalSet,
    QuestionAnswered as QuestionAnswered,
    QuestionAsked as QuestionAsked,
)
from halocline.protocol.events.rewind import (
    CheckpointFailed as CheckpointFailed,
    CheckpointRestored as CheckpointRestored,
    CheckpointTaken as CheckpointTaken,
    ConversationRestored as ConversationRestored,
    RootsChanged as RootsChanged,
    TaskForked as TaskForked,
    WorkspaceMoved as WorkspaceMoved,
)
from halocline.protocol.events.settings_changes import (
    ApprovalSwitched as ApprovalSwitched,
    EffortChanged as EffortChanged,
    GrantTakenBack as GrantTakenBack,
    ModeChanged as ModeChanged,
    ModelChanged as ModelChanged,
    PolicyChanged as PolicyChanged,
)
from halocline.protocol.events.steps import (
    AssistantMessageCompleted as AssistantMessageCompleted,
    SideQuestionAnswered as SideQuestionAnswered,
    StepRetried as StepRetried,
    StepStarted as StepStarted,
    TextDelta as TextDelta,
    ThinkingDelta as ThinkingDelta,
    UsageReported as UsageReported,
)
from halocline.protocol.events.subagents import SubagentEvent as SubagentEvent, SubagentProgressed as SubagentProgressed
from halocline.protocol.events.tool_calls import (
    EditPreviewed as EditPreviewed,
    FileChanged as FileChanged,
    ToolCallDelta as ToolCallDelta,
    ToolCallEnded as ToolCallEnded,
    ToolCallProgressed as ToolCallProgressed,
    ToolCallStarted as ToolCallStarted,
    ToolsOffered as ToolsOffered,
)
from halocline.protocol.events.turns import (
    ErrorRaised as ErrorRaised,
    HandedOver as HandedOver,
    LogRepaired as LogRepaired,
    Noticed as Noticed,
    SteeringReceived as SteeringReceived,
    TaskStarted as TaskStarted,
    TurnEnded as TurnEnded,
    TurnStarted as TurnStarted,
)
from halocline.protocol.events.user_commands import (
    OwnCommandEnded as OwnCommandEnded,
    OwnCommandsReported as OwnCommandsReported,
    OwnCommandStarted as OwnCommandStarted,
)

DurableEvent = (
    TaskStarted
    | TaskAdopted
    | RootsChanged
    | WorkspaceMoved
    | LogRepaired
    | TurnStarted
    | SteeringReceived
    | QueueEvent
    | TurnEnded
    | TurnResumed
    | StepStarted
    | UsageReported
    | SideQuestionAnswered
    | AssistantMessageCompleted
    | ToolCallStarted
    | ToolCallEnded
    | ApprovalRequested
    | ApprovalJudged
    | JudgeSwitched
    | ApprovalResolved
    | QuestionAsked
    | QuestionAnswered
    | AnswerAccepted
    | AnswerRefused
    | CompletionQuestioned
    | CompletionRequired
    | GoalSet
    | GoalChecked
    | LimitExtended
    | RequestReserved
    | RequestSettled
    | TodosChanged
    | CompactionStarted
    | Compacted
    | CompactionUndone
    | PicturesLeftOut
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
    | CustomToolsOffered
    | PluginsLoaded
    | McpEvent
    | SubagentEvent
    | TaskLabelled
    | HandedOver
    | Imported
    | FileChanged
    | CheckpointFailed
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
TransientEvent = StepRetried | Streamed | EditPreviewed | SubagentProgressed | HookProgressed | Noticed
Event = DurableEvent | TransientEvent
