"""The points of a recording where the loop was cut short, and the events that come from outside of it."""

from collections.abc import Sequence
from typing import TypeGuard

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import AgentMessaged, AgentsReported, SubagentEnded, SubagentStarted
from halocline.protocol.kinds import CallStatus
from halocline.protocol.state.state import COMPACTION_CUT, PROCESS_ENDED, TIME_IS_UP
from halocline.protocol.values import Value

_ELSEWHERE = (
    *(ev.TaskStarted, ev.TaskAdopted, ev.RootsChanged, ev.Imported, ev.LogRepaired, ev.ModeChanged, ev.ModelChanged),
    *(ev.EffortChanged, ev.LimitsChanged, ev.GrantTakenBack, ev.PolicyChanged, ev.ApprovalSwitched, ev.RulesChanged),
    *(ev.ApprovalJudged, ev.JudgeSwitched),
    *(ev.ToolsOffered, ev.CustomToolsOffered, ev.McpOffered, ev.McpReported, ev.McpSampled, ev.SideQuestionAnswered),
    *(
        SubagentStarted,
        SubagentEnded,
        AgentMessaged,
        AgentsReported,
        ev.TaskLabelled,
        ev.CheckpointFailed,
        ev.CheckpointTaken,
        ev.CheckpointRestored,
    ),
    *(ev.ConversationRestored, ev.TaskForked, ev.SandboxChecked, ev.JobEnded, ev.JobsReported, ev.OwnCommandStarted),
    *(ev.PluginsLoaded, ev.OwnCommandEnded, ev.OwnCommandsReported, ev.DiagnosticsReported, ev.InstructionsLoaded),
    *(ev.MessageQueued, ev.QueuedMessageEdited, ev.MessageWithdrawn, ev.QueueHeld, ev.QueueReleased),
    *(ev.RequestReserved, ev.RequestSettled, ev.GoalSet, ev.GoalChecked),
    *(ev.FilesChangedOutside, ev.TodosReminded, ev.MentionsResolved, ev.HookRan, ev.WorkspaceMoved, ev.Unrecognised),
)
FROM_ELSEWHERE = frozenset(_ELSEWHERE)
"""Events that the loop does not produce; they are taken from the recording (`comes_from_elsewhere`)."""
FACTS = frozenset({ev.FileChanged, ev.TodosChanged, ev.ShellMoved, ev.PageShown, ev.JobStarted, ev.HandedOver})
"""Events that a call reports besides its result."""


def comes_from_elsewhere(event: object) -> bool:
    """True if the loop does not produce the event: by its type, or because an agent asked through the task."""
    if type(event) in FROM_ELSEWHERE:
        return True
    if isinstance(event, ev.ApprovalRequested):
        return bool(event.agent)
    return isinstance(event, ev.ApprovalResolved) and bool(event.agent) and event.by != "interrupt"


def is_beside_loop(event: object) -> bool:
    """True for what a call reports besides its result, and for what comes from elsewhere."""
    return type(event) in FACTS or comes_from_elsewhere(event)


class Cut(Value, frozen=True):
    """A point where the loop stopped: a person or a limit interrupted it, the process died, or an error broke it.

    `raised` is the event of that error. The recording continues at `end`.
    """

    begin: int
    end: int
    limit: str = ""
    died: bool = False
    raised: ev.ErrorRaised | None = None


def find_cuts(events: Sequence[ev.DurableEvent]) -> list[Cut]:
    """Find where the loop was cut short. The events that close open calls come before the end of the turn."""
    found: list[Cut] = []
    for index, event in enumerate(events):
        if isinstance(event, ev.TurnEnded) and (event.reason == "cancelled" or _by_clock(events, index)):
            died = event.text == PROCESS_ENDED
            found.append(Cut(_find_begin(events, index, died=died), index + 1, event.limit, died))
        elif isinstance(event, ev.TurnEnded) and (broken := _find_break(events, index)):
            found.append(broken)
        elif isinstance(event, ev.TurnResumed):
            found.append(Cut(_find_begin(events, index, died=True), _find_end(events, index), died=True))
    if ends_in_turn(events):
        found.append(Cut(_find_begin(events, len(events), died=True), len(events), died=True))
    return found


def ends_in_turn(events: Sequence[ev.DurableEvent]) -> bool:
    """True if the last turn has no end: its process died or still runs, or the file was cut."""
    bounds = (event for event in reversed(events) if isinstance(event, ev.TurnStarted | ev.TurnEnded))
    return isinstance(next(bounds, None), ev.TurnStarted)


def _find_break(events: Sequence[ev.DurableEvent], end: int) -> Cut | None:
    """Return the cut where an error that did not come from the model ended a turn."""
    at = end - 1
    while at and isinstance(events[at], ev.HookRan):  # hooks that ran at the end
        at -= 1
    raised = events[at]
    if not isinstance(raised, ev.ErrorRaised) or is_of_model(raised) or getattr(events[end], "reason", "") != "error":
        return None
    return Cut(_find_begin(events, at, died=False), end + 1, raised=raised)


def is_of_model(event: ev.DurableEvent) -> TypeGuard[ev.ErrorRaised]:
    """True if the event reports a failed model request."""
    return isinstance(event, ev.ErrorRaised) and event.code.startswith("model_")


def _find_end(events: Sequence[ev.DurableEvent], resumed: int) -> int:
    """Return the position after the events, right after a resume, of what ended with the process."""
    end = resumed + 1
    while end < len(events) and isinstance(
        events[end], ev.PageShown | ev.JobEnded | ev.ShellMoved | ev.OwnCommandEnded | ev.RequestSettled
    ):
        end += 1
    return end


def _by_clock(events: Sequence[ev.DurableEvent], index: int) -> bool:
    """True if the time limit was hit within a step, not between two steps."""
    end = events[index]
    return isinstance(end, ev.TurnEnded) and end.text == TIME_IS_UP


def _find_begin(events: Sequence[ev.DurableEvent], end: int, *, died: bool) -> int:
    begin = end
    while begin and isinstance(events[begin - 1], ev.HookRan):  # hooks that ran at the end
        begin -= 1
    # The process that closed them may have died doing so, and the next one continued.
    # Agents in the background of a reply that was cut short have their ends behind it.
    beside = (ev.LogRepaired, SubagentEnded) if died else ()
    while begin and (_is_closing(events[begin - 1]) or isinstance(events[begin - 1], beside)):
        begin -= 1
    return begin


def _is_closing(event: ev.DurableEvent) -> bool:
    """True if the event closes a reply, request or call that was cut short."""
    match event:
        case ev.AssistantMessageCompleted(message=message):
            return message.interrupted
        case ev.ApprovalResolved(by=by) | ev.QuestionAnswered(by=by):
            return by == "interrupt"
        case ev.ToolCallEnded(status=status):
            return status is CallStatus.CANCELLED
        case ev.ErrorRaised(code=code):
            return code == COMPACTION_CUT
    return False
