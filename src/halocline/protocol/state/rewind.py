"""Rewind: a conversation can return to any point of its log, including points it was rewound from.

What must stay true: nothing is lost and nothing is counted twice. A person's decisions, costs and the state of the
world (files, jobs, the shell) stay; the messages, and what follows from them alone, become what they were then.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter, is_

from msgspec.structs import replace

from halocline.protocol.events.rewind import CheckpointRestored, ConversationRestored
from halocline.protocol.messages import Message, UserMessage
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.state.points import Branch, Point
from halocline.protocol.state.state import State

_SEQ = attrgetter("seq")
_BEGINNING = Point()
_KEPT = ("mode", "todos", "compactions", "instructions", "offered", "has_planned", "last_usage", "known")
_kept = attrgetter(*_KEPT)


def remember_point(before: State, after: State) -> State:
    """Return the state after an event with a point to rewind to, if the conversation changed."""
    kept = _kept(after)
    if after.messages is before.messages and all(map(is_, kept, _kept(before))):
        return after
    points = grow_series(after.points, Point(after.seq, len(after.messages), *kept))
    if _goes_on(before.messages, after.messages):
        return replace(after, points=points)
    return replace(after, points=points, branches=(*after.branches, Branch(after.seq, before.messages)))


def _goes_on(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """True if messages were only added: if the last message is in its old place, so are all before it."""
    at = len(before) - 1
    return at < 0 or (at < len(after) and after[at] is before[at])


def messages_at(state: State, seq: int) -> Sequence[Message]:
    """Return the conversation as it was after event `seq`."""
    point = _find_point(state, seq)
    then = next((branch.messages for branch in state.branches if branch.until > seq), state.messages)
    return then[: point.length]


def restore_state(state: State, event: ConversationRestored) -> State:
    """Return the state after the conversation was rewound."""
    point = _find_point(state, event.to)
    kept = dict(zip(_KEPT, _kept(point), strict=True))
    return replace(state, messages=messages_at(state, event.to), draft=None, compacting=None, declined=False, **kept)


def add_restore_note(state: State, event: CheckpointRestored) -> State:
    """Return the state after a restore, with its message to the model."""
    return replace(state, messages=grow_series(state.messages, UserMessage(event.content))) if event.content else state


def _find_point(state: State, seq: int) -> Point:
    at = bisect_right(state.points, seq, key=_SEQ)
    return state.points[at - 1] if at else _BEGINNING
