"""A sub-agent as its parent sees it: progress, cost and end; live, or from the log it left.

What must stay true: a sub-agent run that started has exactly one end, even if the process died.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import reduce
from pathlib import Path

from msgspec.structs import replace

from halocline.context.user_files.agents import FINISHING
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import Note, StopReason, ToolCall, Usage
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends
from halocline.protocol.values import Value
from halocline.task.log import Log, read_log
from halocline.task.task import Task

BEGINNING = 600
"""Characters of a report in the parent's log; the whole is in the call's result and in the child's log."""
IN_NOTE = 8_000
"""Characters of a report that comes in a note: that of an agent in the background."""
MOST_REFUSED, LONGEST_REFUSED = 5, 60
"""Refused calls that are named in the parent's log, and characters of a command, before its reason."""
FEW = 2
"""A sub-agent is told to finish this many steps before its limit, or after this share (`PART`) of its time."""
PART = 0.8
KEPT = (
    "[What it changed so far is kept in the worktree {worktree}. To continue it there: spawn_agent with the name "
    "{name}.]"
)
HURRY = "You are almost out of time. Stop investigating and report what you know now, with attempt_completion."


class Took(Value, frozen=True):
    """Steps, calls, tokens and US dollars that a run of a sub-agent has used so far, with what its own ones took.

    The other fields are as in its end.
    """

    steps: int = 0
    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    known: float = 0.0
    assumed_tokens: int = 0
    assumed_cost: float = 0.0
    refused: tuple[str, ...] = ()
    _asked: tuple[ToolCall, ...] = ()

    def after(self, event: ev.Event) -> "Took":
        match event:
            case ev.StepStarted():
                return replace(self, steps=self.steps + 1)
            case ev.AssistantMessageCompleted(message=message):
                return replace(self, _asked=message.tool_calls)
            case ev.ToolCallEnded(status=CallStatus.REJECTED):
                return replace(self, refused=(*self.refused, self._describe_refused(event))[:MOST_REFUSED])
            case ev.ToolCallStarted(name=name) if name != FINISHING:
                return replace(self, calls=self.calls + 1)
            case ev.UsageReported(usage=usage, cost=cost) | ev.SideQuestionAnswered(usage=usage, cost=cost):
                return self._with_usage(usage, cost, cost or 0.0)
            case SubagentEnded(usage=usage, cost=cost):
                return replace(
                    self._with_usage(usage, cost, event.known_sum),
                    steps=self.steps + event.steps,
                    assumed_tokens=self.assumed_tokens + event.assumed_tokens,
                    assumed_cost=self.assumed_cost + event.assumed_cost,
                )
            case ev.RequestSettled(tokens=tokens, cost=assumed):
                tokens, assumed = self.assumed_tokens + tokens, self.assumed_cost + assumed
                return replace(self, assumed_tokens=tokens, assumed_cost=assumed)
        return self

    def _describe_refused(self, event: ev.ToolCallEnded) -> str:
        """`make deploy: blocked: …`: what an agent wanted to do, and why it was not done."""
        given = next((call.arguments for call in self._asked if call.id == event.call), {})
        command = " ".join(str(given.get("command") or "").split())
        command = command if len(command) <= LONGEST_REFUSED else f"{command[: LONGEST_REFUSED - 1]}…"
        return f"{command or given.get('path') or event.name}: {event.for_person or 'not allowed'}"

    def _with_usage(self, usage: Usage, cost: float | None, known: float) -> "Took":
        total = None if cost is None or self.cost is None else self.cost + cost
        return replace(self, usage=self.usage + usage, cost=total, known=self.known + known)


def sum_up(events: Iterable[ev.Event]) -> Took:
    """Return what a sub-agent took by its events."""
    return reduce(Took.after, events, Took())


class Lane:
    """Reports a sub-agent's progress to its parent; `over` is set once its turn has ended, or it broke."""

    def __init__(self, started: SubagentStarted, task: Task, tell: Callable[[SubagentProgressed], None]) -> None:
        self.took = Took()
        self.over = asyncio.Event()
        self._started = started
        self._task = task
        self._tell = tell
        self._doing = ""
        self._hurried: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Start to listen, and schedule the call for a report before its time ends."""
        given = self._task.state.subagents.subtask
        self._task.log.attach(self)
        if given and given.seconds:
            self._hurried = asyncio.get_running_loop().call_later(given.seconds * PART, self._hurry)

    def push(self, event: ev.Event) -> None:
        self.took = self.took.after(event)
        match event:
            case ev.StepStarted():
                self._doing = "thinking"
                given = self._task.state.subagents.subtask
                if given and given.steps and self.took.steps == given.steps - FEW:
                    self._hurry()
            case ev.ToolCallStarted(title=title):
                self._doing = title
            case ev.StepRetried(cause=cause, attempt=attempt):
                self._doing = f"retrying: {cause}" if attempt else cause
            case ev.UsageReported():
                pass
            case ev.TurnEnded(reason=reason):
                if reason is not StopReason.END_TURN or not self._task.inbox.queue.has_due:  # else another turn begins
                    self.close()
                return
            case _:
                return
        took = self.took
        self._tell(
            SubagentProgressed(
                self._started.call,
                self._started.child,
                self._doing,
                took.steps,
                took.calls,
                took.usage.total,
                took.cost,
            )
        )

    def close(self) -> None:
        self.over.set()
        if self._hurried:
            self._hurried.cancel()

    def _hurry(self) -> None:
        if not self.over.is_set():
            self._task.inbox.queue.add_note((Note(HURRY, "hurry"),))


def end_event(
    started: SubagentStarted, state: State, took: Took, broke: Exception | None = None, review: str = ""
) -> SubagentEnded:
    """Build the end of a sub-agent from its last state, and what this run took."""
    end, problem = _describe_end(state.last_end)
    if broke:
        why = broke.text if isinstance(broke, HaloclineError) else f"{type(broke).__name__}: {broke}"
        end, problem = LaneEnd.FAILED, why
    return SubagentEnded(
        call=started.call,
        child=started.child,
        name=started.name,
        end=end,
        report=report_of(state)[: IN_NOTE if started.background else BEGINNING],
        problem=problem,
        steps=took.steps,
        calls=took.calls,
        usage=took.usage,
        cost=took.cost,
        assumed_tokens=took.assumed_tokens,
        assumed_cost=took.assumed_cost,
        known_cost=took.known if took.cost is None else 0.0,
        review=review,
        refused=took.refused,
    )


def _describe_end(end: ev.TurnEnded | None) -> tuple[LaneEnd, str]:
    match end:
        case ev.TurnEnded(reason=StopReason.END_TURN | StopReason.MAX_TOKENS):
            return LaneEnd.DONE, ""
        case ev.TurnEnded(reason=StopReason.MAX_TURN_REQUESTS, text=text):
            return LaneEnd.LIMIT, text
        case ev.TurnEnded(reason=StopReason.CANCELLED, text=text):
            return LaneEnd.STOPPED, text
        case ev.TurnEnded(reason=reason, text=text):
            return LaneEnd.FAILED, text or f"the model's reply ended with {reason}"
    return LaneEnd.FAILED, "it did not start"


def report_of(state: State) -> str:
    """Return the report or, without one, the last reply, with the claims of it that its log contradicts."""
    report = final_text(state)
    with suppress(LookupError):
        report = report or state.last_message.answer
    evidence = find_evidence(state.evidence)
    return f"[{evidence.doubt}]\n{report}" if evidence.not_confirmed else report


def close_lost_lanes(home: Path, lanes: Iterable[SubagentStarted]) -> tuple[SubagentEnded, ...]:
    """Close the logs of sub-agents whose process died, and return their ends. `home` is Halocline's folder."""
    return tuple(_close_lost_lane(home / "tasks" / lane.child, lane) for lane in lanes)


def _close_lost_lane(folder: Path, lane: SubagentStarted) -> SubagentEnded:
    past = _close_log(folder, lane)
    took = sum_up(event for event in past if event.at >= lane.at)  # an earlier run has an end of its own
    kept = KEPT.format(name=lane.name, worktree=lane.worktree) if lane.worktree and past else ""
    gone = end_event(lane, fold_events(past), took, review=kept)
    return gone if gone.end is not LaneEnd.FAILED or gone.problem else replace(gone, end=LaneEnd.STOPPED)


def _close_log(folder: Path, lane: SubagentStarted) -> list[ev.DurableEvent]:
    """Return the events, adding the missing ends. A log that is in use or cannot be written is only read."""
    if not folder.exists():
        return []
    try:
        log = Log(folder, lane.child, goes_on=True)
    except HaloclineError:
        return _read_log(folder)
    try:
        past = log.load()
        lost = close_lost_lanes(folder.parent.parent, fold_events(past).subagents.running)
        past += [log.append(end) for end in lost]
        if (state := fold_events(past)).turn is not None:
            ends = (*loose_ends(state), ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED))
            past += [log.append(end) for end in (*state.budget.settle_all(), *ends)]
        return past
    except HaloclineError:
        return _read_log(folder)
    finally:
        log.close()


def _read_log(folder: Path) -> list[ev.DurableEvent]:
    with suppress(HaloclineError):
        return list(read_log(folder / "events.jsonl"))
    return []
