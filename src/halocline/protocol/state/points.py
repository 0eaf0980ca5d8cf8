"""Points of a conversation to which it can return."""

from collections.abc import Mapping, Sequence

from halocline.protocol.events.compaction import Compacted
from halocline.protocol.events.instructions import ActiveInstruction
from halocline.protocol.events.tool_calls import SeenFile
from halocline.protocol.kinds import Mode, Todo
from halocline.protocol.messages import Message, Usage
from halocline.protocol.values import Value


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


class HistoryState(Value, frozen=True):
    """Points to rewind to, and conversations that a rewind replaced."""

    points: Points = ()
    branches: tuple[Branch, ...] = ()
