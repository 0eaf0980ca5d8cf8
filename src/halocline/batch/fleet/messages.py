"""Messages between the driver and the host on a node, as bytes.

The driver says all that it wants each time, so a word that is lost, late or repeated changes nothing.
"""

import os
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

import msgspec

from halocline.batch.items import Item
from halocline.batch.queue import Outcome
from halocline.batch.work import Manner
from halocline.protocol.values import Value

M = TypeVar("M")
Mark = tuple[int, int]
"""The inodes of a folder and of the one above: they tell it from one of the same path on another machine."""


class Terms(Value, frozen=True):
    """The facts that a host knows from its beginning.

    Attributes:
        batch: the name of the batch; `key` tells it from those of other drivers.
        manner: in which all items run.
        patience: seconds without a word from the driver after which the host interrupts its items.
        settings, policy: the driver's own files.
        marks: of the driver's folders that items name, by path.
    """

    batch: str
    key: str
    manner: Manner
    patience: float
    settings: bytes = b""
    policy: bytes = b""
    marks: dict[str, Mark] = {}


class Lease(Value, frozen=True):
    """An attempt that the driver wants from a host.

    Attributes:
        name: of the attempt: the item's id, with the number of a later attempt.
        task: the id of its task.
        have: bytes of the task's log that the driver has; `digest` is theirs, if `item` is given.
        stop: it is to be interrupted.
        item: what to do, unless the host has said that it knows the attempt.
    """

    name: str
    task: str
    have: int = 0
    digest: str = ""
    stop: bool = False
    item: Item | None = None


class Orders(Value, frozen=True):
    """All attempts that the driver wants from a host in its present session; it answers within `wait` seconds.

    Calls may overtake each other: orders are void once a host had those of a higher number.
    """

    session: str
    number: int = 0
    leases: tuple[Lease, ...] = ()
    wait: float = 0.0


class Hello(Value, frozen=True):
    """A host presents itself.

    Attributes:
        slot: the folder that it has its attempts in; who has it can continue them.
        session: the host's, which ends when it was left alone: orders of an earlier one are void.
        machine: its name, for people.
        unseen: the paths of the driver that are others here, or none.
    """

    slot: str
    session: str
    machine: str
    unseen: tuple[str, ...] = ()


class Piece(Value, frozen=True):
    """Whole lines of the log of an attempt's task, from an offset in bytes."""

    name: str
    offset: int
    lines: bytes


class Result(Value, frozen=True):
    """The end of an attempt whose log the driver has, with the patch."""

    name: str
    outcome: Outcome
    patch: bytes | None = None


class Answer(Value, frozen=True):
    """The news of a host.

    Attributes:
        known: all attempts that it has.
        blobs: contents that the pieces refer to.
        costs: of attempts, in US dollars; None if a price is unknown.
        unended: attempts that came to no end and do not run, and why.
        diverged: attempts whose log here is not what the driver has.
    """

    session: str
    known: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()
    blobs: tuple[bytes, ...] = ()
    costs: dict[str, float | None] = {}
    results: tuple[Result, ...] = ()
    unended: dict[str, str] = {}
    diverged: tuple[str, ...] = ()


class NodeGone(Exception):
    """A host does not answer now; Ray may start it again."""


class Channel(Protocol):
    """A host as the driver reaches it. Both raise NodeGone."""

    def hello(self) -> Coroutine[Any, Any, bytes]:
        """Return a `Hello`."""

    def exchange(self, orders: bytes) -> Coroutine[Any, Any, bytes]:
        """Give `Orders`, and return an `Answer`."""


class Nodes(Protocol):
    """The nodes of a cluster. Raises UsageError if there is none."""

    async def find_new(self) -> list[Channel]:
        """Return the hosts that there were not before."""

    async def close(self) -> None:
        """End the hosts."""


def encode(message: Terms | Orders | Hello | Answer) -> bytes:
    return msgspec.msgpack.encode(message)


def decode(data: bytes, kind: type[M]) -> M:
    return msgspec.msgpack.decode(data, type=kind)


def mark_folder(path: str) -> Mark | None:
    """Return the mark of a folder; None if there is none."""
    try:
        return os.stat(path).st_ino, os.stat(os.path.dirname(path)).st_ino
    except OSError:
        return None
