"""The course of a recorded task: what must happen next, and what a replay does not bring about by itself.

A replay runs the real loop. What the loop does is compared with the recording, event by event; what came from elsewhere
(prompts, decisions, interrupts, checkpoints, changed modes, crashes) is fed in when everything before it has happened.
"""

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from typing import TypeGuard

import msgspec

from halocline.protocol import events as ev
from halocline.protocol.state.state import COMPACTION_CUT, PROCESS_ENDED, TIME_IS_UP, State
from halocline.protocol.subtasks import SubagentEnded, SubagentStarted
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
"""Events that the loop does not make; they are taken from the recording."""
FACTS = (ev.FileChanged, ev.TodosChanged, ev.ShellMoved, ev.PageShown, ev.JobStarted, ev.HandedOver)
"""What a call tells of besides its result."""


class Difference(Value, frozen=True):
    """Something went another way: where, which part of it, what it was, and what it is now."""

    place: str
    path: str
    recorded: str
    now: str


class Cut(Value, frozen=True):
    """From `begin` on, the loop did not go on by itself: somebody (or a limit) interrupted, or the process died.

    Or something broke in the loop, of which `raised` was said.
    """

    begin: int
    end: int
    limit: str = ""
    died: bool = False
    raised: ev.ErrorRaised | None = None


class Course:
    """The recorded events, and how far the replay has come. A subscriber of the replay's log."""

    def __init__(
        self,
        events: Sequence[ev.DurableEvent],
        canonical: Callable[[str], str],
        *,
        strict: bool,
    ) -> None:
        """`canonical` makes texts alike that differ only by nature; the first difference is the last when `strict`."""
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
        """Through which client the next approval or question was answered."""
        ahead = (one for one in self.events[self.at :] if isinstance(one, ev.ApprovalResolved | ev.QuestionAnswered))
        return next((answer.client for answer in ahead), "")

    @property
    def cut(self) -> Cut | None:
        """What cuts the loop short now."""
        return self._cuts.get(self.at)

    @property
    def cut_at_once(self) -> Cut | None:
        """Return what cut short the turn that begins now before the loop did anything."""
        at = self.at + 1
        while at not in self._cuts and at < len(self.events) and isinstance(self.events[at], FROM_ELSEWHERE):
            at += 1
        cut = self._cuts.get(at)
        return None if cut is None or cut.died else cut

    def clock(self) -> float:
        """The recorded time of what happens next."""
        return (self.next or self.events[-1]).at

    def seconds(self, state: State) -> float:
        """How long the running turn took: too long just where the recording says so."""
        match next((event for event in self.events[self.at :] if not isinstance(event, FROM_ELSEWHERE)), None):
            case ev.TurnEnded(limit="time"):
                return inf
            case ev.QuestionAsked(question=question) if SECONDS_REACHED in question:
                return inf
        return 0.0

    def push(self, event: ev.Event) -> None:
        """The replay did something: compare it."""
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
        """Note the first difference, if there is one."""
        if found := first_difference(*(self._canonical(encode(side).decode()) for side in (recorded, now))):
            self._differs(Difference(place, *found))

    def part(self, now: str) -> None:
        """The replay does what the recording does not have here, and cannot go on."""
        self._differs(Difference(f"event {self.at + 1}", "", name_of(self.next), now))
        self.stop()

    def stuck(self) -> None:
        """Something waits for what the recording does not have."""
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
        """Wait until what cuts this step short comes now; at once when nothing does."""
        ahead = self.step_ahead()
        await self.reaches(next((at for at in (*ahead, ahead.stop) if at in self._cuts), self.at))

    def step_ahead(self) -> range:
        """The positions from here to the end of this step."""
        for position in range(self.at, len(self.events)):
            if isinstance(self.events[position], ev.StepStarted | ev.TurnEnded):
                return range(self.at, position)
        return range(self.at, len(self.events))

    def was_cut_short(self, call: str) -> bool:
        """A call that did something and then did not come to its end."""
        ahead = (self.events[position] for position in self.step_ahead())
        ends = [event for event in ahead if isinstance(event, ev.ToolCallEnded) and event.call == call]
        return not ends or ends[0].status is ev.CallStatus.CANCELLED

    def fact_was_cut_short(self) -> bool:
        """Whether what comes next was told by a call that did not come to its end; facts stand right before that."""
        ahead = (self.events[position] for position in self.step_ahead())
        end = next((event for event in ahead if isinstance(event, ev.ToolCallEnded)), None)
        return end is None or end.status is ev.CallStatus.CANCELLED

    def leads_to_cut(self, passing: tuple[type, ...]) -> bool:
        """Nothing but such events stands between here and what cuts the loop short."""
        at = self.at
        while at not in self._cuts and at < len(self.events) and isinstance(self.events[at], passing):
            at += 1
        return at in self._cuts

    def somebody_answers(self) -> bool:
        """The next approval or question was answered by a person."""
        for event in self.events[self.at :]:
            if isinstance(event, ev.ApprovalResolved | ev.QuestionAnswered):
                return event.by != "nobody"
        return True

    def _differs(self, difference: Difference) -> None:
        self.differences.append(difference)
        if self._strict:
            self.stop()


def name_of(event: ev.Event | None) -> str:
    """An event's name as the log shows it."""
    return str(type(event).__struct_config__.tag) if event is not None else "nothing more"


def find_cuts(events: Sequence[ev.DurableEvent]) -> list[Cut]:
    """Where the loop was cut short. What closes loose ends stands before the end of the turn."""
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
    """Return where something that is no failure of the model ended a turn."""
    at = end - 1
    while at and isinstance(events[at], ev.HookRan):  # the hooks of the end
        at -= 1
    raised = events[at]
    if not isinstance(raised, ev.ErrorRaised) or is_of_model(raised) or getattr(events[end], "reason", "") != "error":
        return None
    return Cut(_find_begin(events, at, died=False), end + 1, raised=raised)


def is_of_model(event: ev.DurableEvent) -> TypeGuard[ev.ErrorRaised]:
    """Tell whether it says that a request failed."""
    return isinstance(event, ev.ErrorRaised) and event.code.startswith("model_")


def _find_end(events: Sequence[ev.DurableEvent], resumed: int) -> int:
    """What ended with the process is told of right after the turn was resumed."""
    end = resumed + 1
    while end < len(events) and isinstance(
        events[end], ev.PageShown | ev.JobEnded | ev.ShellMoved | ev.OwnCommandEnded
    ):
        end += 1
    return end


def _by_clock(events: Sequence[ev.DurableEvent], index: int) -> bool:
    """The time limit fell in the middle of something, not between two steps."""
    end = events[index]
    return isinstance(end, ev.TurnEnded) and end.text == TIME_IS_UP


def _find_begin(events: Sequence[ev.DurableEvent], end: int, *, died: bool) -> int:
    begin = end
    while begin and isinstance(events[begin - 1], ev.HookRan):  # the hooks of the end
        begin -= 1
    # Who closed the loose ends may have died over it, and the next one went on.
    while begin and (
        _closes_a_loose_end(events[begin - 1]) or (died and isinstance(events[begin - 1], ev.LogRepaired))
    ):
        begin -= 1
    return begin


def _closes_a_loose_end(event: ev.DurableEvent) -> bool:
    match event:
        case ev.AssistantMessageCompleted(message=message):
            return message.interrupted
        case ev.ApprovalResolved(by=by) | ev.QuestionAnswered(by=by):
            return by == "interrupt"
        case ev.ToolCallEnded(status=status):
            return status is ev.CallStatus.CANCELLED
        case ev.ErrorRaised(code=code):
            return code == COMPACTION_CUT
    return False


def must_wait(course: Course, state: State) -> bool:
    """Before the cut that comes now, a reply was half spoken or a call was running: that happens first."""
    if state.approvals or state.questions:
        return False
    half_spoken = isinstance(course.next, ev.AssistantMessageCompleted)
    return half_spoken or any(opened.started for opened in state.open_calls)


def first_difference(recorded: str, now: str) -> tuple[str, str, str] | None:
    """Where two JSON texts first differ: the path, and both sides. None when they say the same."""
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
    """Both sides, from a little before where they part."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return _shorten_value(before), _shorten_value(after)
    part = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(after)) if part is None else part) - 30)
    cut = "…" if start else ""
    return cut + _shorten_value(before[start:]), cut + _shorten_value(after[start:])


def _shorten_value(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 100 else text[:100] + "…"
