"""Rewind: a conversation can return to any point of its log, including points it was rewound from.

What must stay true: nothing is lost and nothing is counted twice. A person's decisions, costs and the state of the
world (files, jobs, the shell) stay; the messages, and what follows from them alone, become what they were then.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter, is_

from msgspec.structs import replace

from halocline.protocol.events.rewind import ConversationRestored
from halocline.protocol.messages import Message
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.state.points import Branch, Point
from halocline.protocol.state.state import State

_SEQ = attrgetter("seq")
_BEGINNING = Point()
_read_kept = attrgetter(
    "plan.mode",
    "plan.todos",
    "compaction.applied",
    "prompt.instructions",
    "prompt.tools",
    "plan.has_planned",
    "budget.last_usage",
    "files.known",
)
"""What a point keeps of a state, in the order of its fields."""
_read_parts = attrgetter("messages", "plan", "compaction", "prompt", "budget", "files")
"""The parts of a state that these are in: most events change none of them."""


def remember_point(before: State, after: State) -> State:
    """Return the state after an event with a point to rewind to, if the conversation changed."""
    if all(map(is_, _read_parts(after), _read_parts(before))):
        return after
    kept = _read_kept(after)
    if after.messages is before.messages and all(map(is_, kept, _read_kept(before))):
        return after
    history = after.history
    history = replace(history, points=grow_series(history.points, Point(after.seq, len(after.messages), *kept)))
    if not _goes_on(before.messages, after.messages):
        history = replace(history, branches=(*history.branches, Branch(after.seq, before.messages)))
    return replace(after, history=history)


def _goes_on(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """True if messages were only added: if the last message is in its old place, so are all before it."""
    at = len(before) - 1
    return at < 0 or (at < len(after) and after[at] is before[at])


def messages_at(state: State, seq: int) -> Sequence[Message]:
    """Return the conversation as it was after event `seq`."""
    point = _find_point(state, seq)
    then = next((branch.messages for branch in state.history.branches if branch.until > seq), state.messages)
    return then[: point.length]


def restore_state(state: State, event: ConversationRestored) -> State:
    """Return the state after the conversation was rewound."""
    point = _find_point(state, event.to)
    return replace(
        state,
        messages=messages_at(state, event.to),
        draft=None,
        plan=replace(state.plan, mode=point.mode, todos=point.todos, has_planned=point.has_planned),
        compaction=CompactionState(point.compactions),
        prompt=replace(state.prompt, instructions=point.instructions, tools=point.offered),
        budget=replace(state.budget, last_usage=point.last_usage),
        files=replace(state.files, known=point.known),
        pending=replace(state.pending, declined=False, refused=()),
    )


def _find_point(state: State, seq: int) -> Point:
    at = bisect_right(state.history.points, seq, key=_SEQ)
    return state.history.points[at - 1] if at else _BEGINNING
