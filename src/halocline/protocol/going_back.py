"""Rewind: a conversation can return to any point of its log, including points it was rewound from.

What must stay true: nothing is lost and nothing is counted twice. A person's decisions, costs and the state of the
world (files, jobs, the shell) stay; the messages, and what follows from them alone, become what they were then.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter, is_
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.protocol.compaction import Compacted
from halocline.protocol.event_kinds import Durable
from halocline.protocol.instructions import ActiveInstruction
from halocline.protocol.kinds import Mode, Todo
from halocline.protocol.messages import Message, Usage, UserMessage, UserPart
from halocline.protocol.state.file_knowledge import SeenFile
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.protocol.state.state import State


class RootsChanged(Durable, frozen=True):
    """The additional folders of the task changed to these. Paths are absolute, with links resolved."""

    roots: tuple[str, ...]


class CheckpointTaken(Durable, frozen=True):
    """The files of the workspace, or of the task's other folder `root`, were saved as `checkpoint`.

    A checkpoint that `is_late` may include changes made after it was requested.
    """

    checkpoint: str
    label: str
    root: str = ""
    is_late: bool = False


class RootRestored(Value, frozen=True):
    """Another folder of the task, restored together with the workspace."""

    root: str
    checkpoint: str
    undo: str


def brief_target(target: str, length: int = 12) -> str:
    """Shorten a checkpoint's name for display; the name of a snapshot (`TASK@EVENT`) stays whole."""
    return target if "@" in target else target[:length]


class CheckpointRestored(Durable, frozen=True):
    """Files were restored to `checkpoint`; `undo` is the checkpoint of their state before.

    If the files had not been saved and the task's edits were undone one by one, both are snapshots, `TASK@EVENT`. Both
    are empty if a fork only tells its model that its files differ.

    The restore changed the files in `changed`; those in `merged` also keep a person's later edits. All other lists
    name files that it left alone: a person changed those in `yours`; another task, named after the path, those in
    `others`; both the person and the task changed the same lines of those in `conflicts`. Those in `doubtful` changed
    while a command of the task ran and someone else was active. Those in `kept` could not be written or removed, or
    their saved copy is damaged. `content` is for the model, unless the conversation is rewound too. `elsewhere` are
    the task's other folders; their paths are absolute.
    """

    checkpoint: str
    undo: str
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    yours: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    content: tuple[UserPart, ...] = ()
    elsewhere: tuple[RootRestored, ...] = ()
    others: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()


class ConversationRestored(Durable, frozen=True):
    """The conversation was rewound to event `to`; the model no longer reads what came after it.

    Nothing is deleted, so this can be undone by another rewind.
    """

    to: int


class TaskForked(Durable, frozen=True):
    """The task was forked: `to` continues from event `point`."""

    to: str
    point: int


class Point(Value, frozen=True):
    """The conversation after event `seq`: its number of messages, and the state that follows from them."""

    seq: int = 0
    length: int = 0
    mode: Mode = Mode.ACT
    todos: tuple[Todo, ...] = ()
    compactions: tuple[Compacted, ...] = ()
    instructions: tuple[ActiveInstruction, ...] = ()
    offered: frozenset[str] = frozenset()
    has_planned: bool = False
    last_usage: Usage = Usage()
    known: Mapping[str, SeenFile] = {}


Points = Sequence[Point]
"""Sorted by `seq`."""


class Branch(Value, frozen=True):
    """The conversation as it was until event `until` replaced it."""

    until: int
    messages: Sequence[Message]


_SEQ = attrgetter("seq")
_BEGINNING = Point()
_KEPT = ("mode", "todos", "compactions", "instructions", "offered", "has_planned", "last_usage", "known")
_kept = attrgetter(*_KEPT)


def remember_point(before: "State", after: "State") -> "State":
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


def messages_at(state: "State", seq: int) -> Sequence[Message]:
    """Return the conversation as it was after event `seq`."""
    point = _find_point(state, seq)
    then = next((branch.messages for branch in state.branches if branch.until > seq), state.messages)
    return then[: point.length]


def restore_state(state: "State", event: ConversationRestored) -> "State":
    """Return the state after the conversation was rewound."""
    point = _find_point(state, event.to)
    kept = dict(zip(_KEPT, _kept(point), strict=True))
    return replace(state, messages=messages_at(state, event.to), draft=None, compacting=None, declined=False, **kept)


def add_restore_note(state: "State", event: CheckpointRestored) -> "State":
    """Return the state after a restore, with its message to the model."""
    return replace(state, messages=grow_series(state.messages, UserMessage(event.content))) if event.content else state


def _find_point(state: "State", seq: int) -> Point:
    at = bisect_right(state.points, seq, key=_SEQ)
    return state.points[at - 1] if at else _BEGINNING
