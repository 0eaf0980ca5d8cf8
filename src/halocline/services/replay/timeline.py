"""The course of a recorded task: what must happen next, and what a replay has to be given from outside.

A replay runs the real loop. The loop's events are compared with the recording one by one; external input (prompts,
decisions, interrupts, checkpoints, changed modes, crashes) is fed in when everything before it has happened.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Never

import msgspec

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.services.replay.cuts import Cut, comes_from_elsewhere, find_cuts, is_beside_loop
from halocline.services.replay.differences import Difference, first_difference
from halocline.task.governor import SECONDS_REACHED

encode = msgspec.json.Encoder().encode


class Course:
    """The recorded events, and the position of the replay. Subscribes to the replay's log."""

    def __init__(self, events: Sequence[ev.DurableEvent], canonical: Callable[[str], str], *, strict: bool) -> None:
        """`canonical` removes expected differences from texts; `strict` stops at the first difference."""
        self.events = events
        self.at = 0
        self.over = False
        self.differences: list[Difference] = []
        self.when_stuck: Callable[[], None] = self.stop
        self.when_stopped: Callable[[], object] = lambda: None
        self._canonical = canonical
        self._strict = strict
        self._home = os.path.expanduser("~")
        self._moved = asyncio.Event()
        self._cuts = {cut.begin: cut for cut in find_cuts(events)}
        self._step_ends = _find_step_ends(events)
        self.steps = 0
        """The steps that began so far."""

    @property
    def next(self) -> ev.DurableEvent | None:
        return self.events[self.at] if self.at < len(self.events) else None

    @property
    def previous(self) -> ev.DurableEvent | None:
        return self.events[self.at - 1] if self.at else None

    @property
    def answering_client(self) -> str:
        """The client that answered the next approval or question."""
        return next(
            (event.client for event in self.ahead() if isinstance(event, ev.ApprovalResolved | ev.QuestionAnswered)), ""
        )

    @property
    def cut(self) -> Cut | None:
        """The cut that is due now."""
        return self._cuts.get(self.at)

    @property
    def cut_at_once(self) -> Cut | None:
        """The interrupt that ended the turn that begins now before the loop did anything."""
        at = self.at + 1
        while at not in self._cuts and at < len(self.events) and comes_from_elsewhere(self.events[at]):
            at += 1
        cut = self._cuts.get(at)
        return None if cut is None or cut.died else cut

    def clock(self) -> float:
        """Return the recorded time of the next event."""
        return (self.next or self.events[-1]).at

    def seconds(self, state: State) -> float:
        """Return the duration of the running turn: infinite where the recording hit the time limit, else 0."""
        match next((event for event in self.ahead() if not comes_from_elsewhere(event)), None):
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
        self.steps += isinstance(event, ev.StepStarted)
        self._moved.set()

    def compare(self, place: str, recorded: Value, now: Value) -> None:
        """Record the first difference, if any."""
        if recorded is now:
            return
        texts = [encode(side) for side in (recorded, now)]
        if texts[0] == texts[1]:
            return
        then, today = (self._canonical(text.decode()) for text in texts)
        if found := first_difference(then, today, self._home):
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

    def ahead(self) -> Iterator[ev.DurableEvent]:
        """Yield the events that follow. A log may be long, so nothing is copied."""
        return (self.events[at] for at in range(self.at, len(self.events)))

    def behind(self) -> Iterator[ev.DurableEvent]:
        """Yield the events that happened, the latest first."""
        return (self.events[at] for at in reversed(range(self.at)))

    def step_ahead(self) -> range:
        """Return the positions from here to the end of this step."""
        return range(self.at, self._step_ends[self.at])

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

    def leads_to_cut(self) -> bool:
        """True if only facts of calls, and what comes from elsewhere, are before the next cut."""
        at = self.at
        while at not in self._cuts and at < len(self.events) and is_beside_loop(self.events[at]):
            at += 1
        return at in self._cuts

    def _differs(self, difference: Difference) -> None:
        self.differences.append(difference)
        if self._strict:
            self.stop()


def _find_step_ends(events: Sequence[ev.DurableEvent]) -> list[int]:
    """Return the end of the step for each position, also for the one behind the last event."""
    ends = [len(events)] * (len(events) + 1)
    for at in reversed(range(len(events))):
        ends[at] = at if isinstance(events[at], ev.StepStarted | ev.TurnEnded) else ends[at + 1]
    return ends


def name_of(event: ev.Event | None) -> str:
    """Return an event's name in the log."""
    return str(type(event).__struct_config__.tag) if event is not None else "no more events"


def must_wait(course: Course, state: State) -> bool:
    """True if a partial reply or a running call must come before the cut that is due."""
    if state.pending.approvals or state.pending.questions:
        return False
    is_partial = isinstance(course.next, ev.AssistantMessageCompleted)
    return is_partial or any(opened.started for opened in state.pending.calls)


async def wait_forever(course: Course) -> Never:
    """Wait to be cut short, as the recording has nothing more for the caller."""
    await course.reaches_cut()
    course.stuck()
    await asyncio.Event().wait()
    raise AssertionError("nothing sets it")
