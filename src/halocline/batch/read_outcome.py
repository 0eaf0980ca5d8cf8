"""Reads from the log of a task how its item went. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from halocline.batch.queue import Ending, Outcome
from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.protocol.messages import StopReason
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.state import State

TEXT_SHOWN = 2_000
"""Characters of the answer that the outcome keeps; the task has all of it."""
_CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE, ToolKind.EXECUTE})
_ENDINGS = {
    StopReason.END_TURN: Ending.PASSED,
    StopReason.MAX_TOKENS: Ending.LIMIT,
    StopReason.MAX_TURN_REQUESTS: Ending.LIMIT,
    StopReason.REFUSAL: Ending.REFUSED,
    StopReason.CANCELLED: Ending.STOPPED,
    StopReason.ERROR: Ending.ERROR,
}


def read_outcome(state: State, past: Sequence[ev.DurableEvent]) -> Outcome:
    """Return the outcome of a task whose turn has ended, before its result is accepted or not."""
    end, budget = state.last_end, state.budget
    ending, cause = _read_ending(state, past)
    text = end.text if end and ending in (Ending.ERROR, Ending.REFUSED) and end.text else final_text(state)
    outcome = Outcome(
        ending,
        cause,
        text[:TEXT_SHOWN],
        model=state.model.name,
        cost=budget.cost,
        tokens=budget.usage,
        requests=sum(isinstance(event, ev.UsageReported) for event in past),
    )
    return _count_calls(outcome, past)


def _read_ending(state: State, past: Sequence[ev.DurableEvent]) -> tuple[Ending, str]:
    end = state.last_end
    if end is None:
        return Ending.ERROR, "no end"
    ending = _ENDINGS[end.reason]
    if ending is Ending.PASSED and state.pending.nobody_answered:
        return Ending.APPROVAL, ""
    if ending is Ending.PASSED and state.goal.is_open:
        return Ending.LIMIT, "goal"
    if ending is Ending.ERROR:
        return ending, next((event.code for event in reversed(past) if isinstance(event, ev.ErrorRaised)), "")
    return ending, end.limit or ("reply length" if end.reason is StopReason.MAX_TOKENS else "")


def _count_calls(outcome: Outcome, past: Iterable[ev.DurableEvent]) -> Outcome:
    """Count the calls, those that failed, and the reads of what had been read and not been changed since."""
    kinds, read, editing = dict[str, ToolKind](), set[str](), Counter[str]()
    calls = failed = edits = invalid = again = 0
    for event in past:
        if isinstance(event, ev.ToolCallStarted):
            kinds[event.call] = event.kind
            editing[event.name] += event.kind is ToolKind.EDIT
            places = {place.path for place in event.locations} if event.kind is ToolKind.READ else set()
            again += bool(places and places <= read)
            read = set() if event.kind in _CHANGES else read | places
        elif isinstance(event, ev.ToolCallEnded):
            is_failure = event.status is CallStatus.FAILED and not event.outside
            calls, failed = calls + 1, failed + is_failure
            edits += is_failure and kinds.get(event.call) is ToolKind.EDIT
            invalid += is_failure and event.call not in kinds
    tool = next((name for name, count in editing.most_common(1) if count), "")
    return replace(
        outcome,
        calls=calls,
        failed_calls=failed,
        failed_edits=edits,
        invalid_calls=invalid,
        repeated_reads=again,
        edit_tool=tool,
    )
