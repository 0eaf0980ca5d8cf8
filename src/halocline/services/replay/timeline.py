"""The course of a recorded task: what must happen next, and what a replay has to be given from outside.

A replay runs the real loop. The loop's events are compared with the recording one by one; external input (prompts,
decisions, interrupts, checkpoints, changed modes, crashes) is fed in when everything before it has happened.
"""

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from typing import TypeGuard

import msgspec

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.kinds import CallStatus
from halocline.protocol.state.state import COMPACTION_CUT, PROCESS_ENDED, TIME_IS_UP, State
from halocline.protocol.values import Value
from halocline.task.governor import SECONDS_REACHED

encode = msgspec.json.Encoder().encode

FROM_ELSEWHERE = (
    ev.TaskStarted,
    ev.TaskAdopted,
    ev.RootsChanged,
    ev.Imported,
    ev.LogRepaired,
    ev.ModeChanged,
    ev.ModelChanged,
    ev.EffortChanged,
    ev.LimitsChanged,
    ev.GrantTakenBack,
    ev.PolicyChanged,
    ev.ApprovalSwitched,
    ev.RulesChanged,
    ev.ToolsOffered,
    ev.McpOffered,
    ev.McpReported,
    ev.McpSampled,
    SubagentStarted,
    SubagentEnded,
    ev.TaskLabelled,
    ev.CheckpointTaken,
    ev.CheckpointRestored,
    ev.ConversationRestored,
    ev.TaskForked,
    ev.SandboxChecked,
    ev.JobEnded,
    ev.JobsReported,
    ev.OwnCommandStarted,
    ev.OwnCommandEnded,
    ev.OwnCommandsReported,
    ev.DiagnosticsReported,
    ev.InstructionsLoaded,
    ev.FilesChangedOutside,
    ev.TodosReminded,
    ev.MentionsResolved,
    ev.HookRan,
    ev.Unrecognised,
)
"""Events that the loop does not produce; they are taken from the recording."""
FACTS = (ev.FileChanged, ev.TodosChanged, ev.ShellMoved, ev.PageShown, ev.JobStarted, ev.HandedOver)
"""Events that a call reports besides its result."""


class Difference(Value, frozen=True):
    """A difference: its place, the path in it, the recorded value, and the value now."""

    place: str
    path: str
    recorded: str
    now: str


class Cut(Value, frozen=True):
    """A point where the loop stopped: a person or a limit interrupted it, the process died, or an error broke it.

    `raised` is the event of that error. The recording goes on at `end`.
    """

    begin: int
    end: int
    limit: str = ""
    died: bool = False
    raised: ev.ErrorRaised | None = None


class Course:
    """The recorded events, and the position of the replay. Subscribes to the replay's log."""

    def __init__(
        self,
        events: Sequence[ev.DurableEvent],
        canonical: Callable[[str], str],
        *,
        strict: bool,
    ) -> None:
        """`canonical` removes expected differences from texts; `strict` stops at the first difference."""
        self.events = events
        self.at = 0
        self.over = False
        self.differences: list[Difference] = []
        self.when_stuck: Callable[[], None] = self.stop
        self.when_stopped: Callable[[], object] = lambda: None
        self._canonical = canonical
        self._strict = strict
        self._moved = asyncio.Event()
        self._cuts = {cut.begin: cut for cut in find_cuts(events)}

    @property
    def next(self) -> ev.DurableEvent | None:
        return self.events[self.at] if self.at < len(self.events) else None

    @property
    def previous(self) -> ev.DurableEvent | None:
        return self.events[self.at - 1] if self.at else None

    @property
    def answering_client(self) -> str:
        """The client that answered the next approval or question."""
        ahead = (one for one in self.events[self.at :] if isinstance(one, ev.ApprovalResolved | ev.QuestionAnswered))
        return next((answer.client for answer in ahead), "")

    @property
    def cut(self) -> Cut | None:
        """The cut that is due now."""
        return self._cuts.get(self.at)

    @property
    def cut_at_once(self) -> Cut | None:
        """The interrupt that ended the turn that begins now before the loop did anything."""
        at = self.at + 1
        while at not in self._cuts and at < len(self.events) and isinstance(self.events[at], FROM_ELSEWHERE):
            at += 1
        cut = self._cuts.get(at)
        return None if cut is None or cut.died else cut

    def clock(self) -> float:
        """Return the recorded time of the next event."""
        return (self.next or self.events[-1]).at

    def seconds(self, state: State) -> float:
        """Return the duration of the running turn: infinite where the recording hit the time limit, else 0."""
        match next((event for event in self.events[self.at :] if not isinstance(event, FROM_ELSEWHERE)), None):
            case ev.TurnEnded(limit="time"):
                return inf
            case ev.QuestionAsked(question=question) if SECONDS_REACHED in question:
                return inf
        return 0.0

    def push(self, event: ev.Event) -> None:
        """Compare an event of the replay with the recording."""
        if self.over or not isinstance(event, ev.Durable):
            return
        expected = self.next
        if expected is None or type(expected) is not type(event):
            self.part(name_of(event))
            return
        self.compare(f"event {self.at + 1} ({name_of(expected)})", expected, event)
        self.at += 1
        self._moved.set()

    def compare(self, place: str, recorded: Value, now: Value) -> None:
        """Record the first difference, if any."""
        if found := first_difference(*(self._canonical(encode(side).decode()) for side in (recorded, now))):
            self._differs(Difference(place, *found))

    def part(self, now: str) -> None:
        """Record that the replay left the recording, and stop."""
        self._differs(Difference(f"event {self.at + 1}", "", name_of(self.next), now))
        self.stop()

    def stuck(self) -> None:
        """Report that something waits for what the recording does not have."""
        self.when_stuck()

    def close(self) -> None:
        self.over = True
        self._moved.set()

    def stop(self) -> None:
        """End the replay here."""
        self.close()
        self.when_stopped()

    async def reaches(self, position: int) -> None:
        """Wait until everything before `position` has happened."""
        while self.at < position and not self.over:
            self._moved.clear()
            await self._moved.wait()

    async def reaches_cut(self) -> None:
        """Wait until the cut in this step is due; return at once if there is none."""
        ahead = self.step_ahead()
        await self.reaches(next((at for at in (*ahead, ahead.stop) if at in self._cuts), self.at))

    def step_ahead(self) -> range:
        """Return the positions from here to the end of this step."""
        for position in range(self.at, len(self.events)):
            if isinstance(self.events[position], ev.StepStarted | ev.TurnEnded):
                return range(self.at, position)
        return range(self.at, len(self.events))

    def was_cut_short(self, call: str) -> bool:
        """True if the call did not complete."""
        ahead = (self.events[position] for position in self.step_ahead())
        ends = [event for event in ahead if isinstance(event, ev.ToolCallEnded) and event.call == call]
        return not ends or ends[0].status is CallStatus.CANCELLED

    def fact_was_cut_short(self) -> bool:
        """True if the next fact is from a call that did not complete; facts come right before the end of their call."""
        ahead = (self.events[position] for position in self.step_ahead())
        end = next((event for event in ahead if isinstance(event, ev.ToolCallEnded)), None)
        return end is None or end.status is CallStatus.CANCELLED

    def leads_to_cut(self, passing: tuple[type, ...]) -> bool:
        """True if only `passing` events come before the next cut."""
        at = self.at
        while at not in self._cuts and at < len(self.events) and isinstance(self.events[at], passing):
            at += 1
        return at in self._cuts

    def somebody_answers(self) -> bool:
        """True unless the next approval or question was answered by nobody."""
        for event in self.events[self.at :]:
            if isinstance(event, ev.ApprovalResolved | ev.QuestionAnswered):
                return event.by != "nobody"
        return True

    def _differs(self, difference: Difference) -> None:
        self.differences.append(difference)
        if self._strict:
            self.stop()


def name_of(event: ev.Event | None) -> str:
    """Return an event's name in the log."""
    return str(type(event).__struct_config__.tag) if event is not None else "no more events"


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
    turns = [event for event in events if isinstance(event, ev.TurnStarted | ev.TurnEnded)]
    if turns and isinstance(turns[-1], ev.TurnStarted):
        found.append(Cut(len(events), len(events), died=True))
    return found


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
        events[end], ev.PageShown | ev.JobEnded | ev.ShellMoved | ev.OwnCommandEnded
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
    while begin and (_is_closing(events[begin - 1]) or (died and isinstance(events[begin - 1], ev.LogRepaired))):
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


def must_wait(course: Course, state: State) -> bool:
    """True if a partial reply or a running call must come before the cut that is due."""
    if state.pending.approvals or state.pending.questions:
        return False
    is_partial = isinstance(course.next, ev.AssistantMessageCompleted)
    return is_partial or any(opened.started for opened in state.pending.calls)


def first_difference(recorded: str, now: str) -> tuple[str, str, str] | None:
    """Return the first difference of two JSON texts: the path and both values; None if they are equal."""
    if recorded == now:
        return None
    return _first_difference(msgspec.json.decode(recorded), msgspec.json.decode(now), "")


def _first_difference(before: object, after: object, path: str) -> tuple[str, str, str] | None:
    match before, after:
        case dict(), dict():
            keys = [*before, *(key for key in after if key not in before)]
            pairs = ((f"{path}.{key}".lstrip("."), before.get(key), after.get(key)) for key in keys)
        case list(), list():
            length = max(len(before), len(after))
            pairs = ((f"{path}[{at}]", _item_at(before, at), _item_at(after, at)) for at in range(length))
        case _ if before == after:
            return None
        case _:
            return (path, *_show_difference(before, after))
    return next((found for key, one, other in pairs if (found := _first_difference(one, other, key))), None)


def _item_at(items: list[object], at: int) -> object:
    return items[at] if at < len(items) else None


def _show_difference(before: object, after: object) -> tuple[str, str]:
    """Return both values, long texts from just before the first difference."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return _shorten_value(before), _shorten_value(after)
    part = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(after)) if part is None else part) - 30)
    cut = "…" if start else ""
    return cut + _shorten_value(before[start:]), cut + _shorten_value(after[start:])


def _shorten_value(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 100 else text[:100] + "…"
