"""Where a conversation can go back to: every moment of a log, also those that were gone back from.

What must stay true: nothing is forgotten and nothing is counted twice. What a person decided, what was spent and what
the world is like (files, jobs, the shell) stays; what was said, and what follows from that alone, is as it was then.
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
    """From now on the task works in these folders beside its workspace. They are absolute, with links resolved."""

    roots: tuple[str, ...]


class CheckpointTaken(Durable, frozen=True):
    """The workspace's files were saved under `checkpoint`; with a `root`, those of that other folder of the task.

    One that `is_late` shows files changed that changed after it was asked for.
    """

    checkpoint: str
    label: str
    root: str = ""
    is_late: bool = False


class RootRestored(Value, frozen=True):
    """Another folder of the task whose files were put back with those of the workspace."""

    root: str
    checkpoint: str
    undo: str


def brief_target(target: str, length: int = 12) -> str:
    """A checkpoint's name as people read it; the name of a moment is whole."""
    return target if "@" in target else target[:length]


class CheckpointRestored(Durable, frozen=True):
    """Files were put back to `checkpoint`; `undo` is the checkpoint of how they were before.

    Where the files had not been saved and the task's edits were undone one by one, both are moments, `TASK@EVENT`. Both
    are empty where a fork only tells its model that its files are different ones.

    The restore changed the files in `changed`; those in `merged` also keep what a person edited in them later. All
    other lists name files that the restore left alone: the person changed those in `yours`, another task, named behind
    the path, those in `others`, and the person and the task both changed the same lines of those in `conflicts`. Those
    in `doubtful` changed while a command of the task ran and somebody else was at work. Those in `kept` could not be
    written or removed, or what was saved of them is damaged. `content` is what the model is told, unless it goes back
    as well. `elsewhere` are the task's other folders, whose paths are absolute.
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
    """The conversation goes on from where it was after event `to`; what was said since is not read any more.

    Nothing is deleted, so it can be gone back to as well.
    """

    to: int


class TaskForked(Durable, frozen=True):
    """Another task, `to`, goes on from event `point` of this one."""

    to: str
    point: int


class Point(Value, frozen=True):
    """The conversation after event `seq`: how many messages it had, and what follows from them."""

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
"""In order."""


class Branch(Value, frozen=True):
    """Messages that were in the conversation before event `until` and left it then."""

    until: int
    messages: Sequence[Message]


_SEQ = attrgetter("seq")
_BEGINNING = Point()
_KEPT = ("mode", "todos", "compactions", "instructions", "offered", "has_planned", "last_usage", "known")
_kept = attrgetter(*_KEPT)


def remember_point(before: "State", after: "State") -> "State":
    """The state after an event, with a way back to it."""
    kept = _kept(after)
    if after.messages is before.messages and all(map(is_, kept, _kept(before))):
        return after
    points = grow_series(after.points, Point(after.seq, len(after.messages), *kept))
    if _goes_on(before.messages, after.messages):
        return replace(after, points=points)
    return replace(after, points=points, branches=(*after.branches, Branch(after.seq, before.messages)))


def _goes_on(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Whether messages were only added: a message that stands where it stood has the same ones before it."""
    at = len(before) - 1
    return at < 0 or (at < len(after) and after[at] is before[at])


def messages_at(state: "State", seq: int) -> Sequence[Message]:
    """The conversation as it was after event `seq`."""
    point = _find_point(state, seq)
    then = next((branch.messages for branch in state.branches if branch.until > seq), state.messages)
    return then[: point.length]


def restore_state(state: "State", event: ConversationRestored) -> "State":
    """The state once the conversation went back."""
    point = _find_point(state, event.to)
    kept = dict(zip(_KEPT, _kept(point), strict=True))
    return replace(state, messages=messages_at(state, event.to), draft=None, compacting=None, declined=False, **kept)


def note_told(state: "State", event: CheckpointRestored) -> "State":
    """The state once the model was told which files are not as it left them."""
    return replace(state, messages=grow_series(state.messages, UserMessage(event.content))) if event.content else state


def _find_point(state: "State", seq: int) -> Point:
    at = bisect_right(state.points, seq, key=_SEQ)
    return state.points[at - 1] if at else _BEGINNING
