"""The live side of a log: subscribers in this process get each event as it happens.

A reader gets the past from disk and then the live tail, without a gap. Queues are bounded: adjacent deltas merge, and a
reader that falls behind reads from disk again, so it never misses a durable event.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from halocline.protocol import events as ev
from halocline.task.live_snapshot import Now

QUEUE_LIMIT = 2_000
"""Events a subscriber may lag behind before it is sent back to the disk."""

E = TypeVar("E", bound=ev.Event)
T = TypeVar("T")
Caught = tuple[ev.TransientEvent, ...]


class Subscriber(Protocol):
    """Receives events as they happen. Must not raise."""

    def push(self, event: ev.Event) -> None: ...

    def close(self) -> None:
        """Take note that no more events will come."""


class EventQueue(Generic[T]):
    """The unread events of one reader. Adjacent deltas merge while it is busy; `shorten` bounds the queue."""

    def __init__(self) -> None:
        self.is_closed = False
        self._items: deque[T] = deque()
        self._wake = asyncio.Event()

    def put(self, item: T) -> None:
        if self._items and (merged := merge_events(self._items[-1], item)):
            self._items[-1] = merged
            return
        self._items.append(item)
        if len(self._items) > QUEUE_LIMIT:
            self._items = deque(self.shorten())
        self._wake.set()

    def close(self) -> None:
        self.is_closed = True
        self._wake.set()

    def shorten(self) -> list[T]:
        """Return the items that an overflow must not lose."""
        return []

    async def live(self) -> AsyncIterator[T]:
        """Yield items as they come, until no more will."""
        while True:
            while self._items:
                yield self._items.popleft()
            if self.is_over:
                return
            self._wake.clear()
            await self._wake.wait()

    @property
    def is_over(self) -> bool:
        return self.is_closed


class Subscription(EventQueue[ev.Event]):
    """One live reader. It starts behind, with the disk to read; an overflow sends it back there."""

    def __init__(self) -> None:
        super().__init__()
        self.behind = True

    @property
    def at_end(self) -> bool:
        """True if every event was delivered and no more will come."""
        return self.is_closed and not self.behind and not self._items

    @property
    def is_over(self) -> bool:
        return self.behind or self.is_closed

    def push(self, event: ev.Event) -> None:
        if not self.behind:
            self.put(event)

    def shorten(self) -> list[ev.Event]:
        self.behind = True
        return []

    def missed(self) -> Iterator[ev.DurableEvent | ev.Noticed]:
        """Take the queued events, without transient ones, which the live snapshot repeats."""
        while self._items:
            if isinstance(event := self._items.popleft(), ev.Durable | ev.Noticed):
                yield event


class Stream:
    """The events of one log. `past` reads those on disk after a given one; `seq` is the newest one shown."""

    def __init__(self, past: Callable[[int], Iterable[ev.DurableEvent]]) -> None:
        self.seq = 0
        self.now = Now()
        self._past = past
        self._subscribers: set[Subscriber] = set()
        self._finished = False

    def show(self, event: E) -> E:
        """Send an event to the live subscribers."""
        self.now.learn(event)
        for subscriber in self._subscribers:
            subscriber.push(event)
        return event

    def attach(self, subscriber: Subscriber) -> None:
        """Send every event to the subscriber until the stream is finished, which it may be."""
        self._subscribers.add(subscriber)
        if self._finished:
            subscriber.close()

    def detach(self, subscriber: Subscriber) -> None:
        """Remove a subscriber."""
        self._subscribers.discard(subscriber)

    async def events(self, after: int = 0) -> AsyncIterator[ev.Event]:
        """Yield the past after `after` from disk, the live snapshot, then the live tail, until the stream finishes."""
        caught_up = False
        async for event in self.with_catching_up(after):
            if not isinstance(event, tuple):
                yield event
            elif not caught_up:
                caught_up = True
                for transient in event:
                    yield transient

    async def with_catching_up(self, after: int = 0) -> AsyncIterator[ev.Event | Caught]:
        """Like `events`; wherever the past ends, a tuple (the live snapshot) replaces all transient events so far."""
        self.attach(subscriber := Subscription())
        try:
            while not subscriber.at_end:
                subscriber.behind, reached = False, self.seq
                for past in self._past(after) if after < reached else ():
                    if past.seq > reached:  # the queue delivers it in order
                        break
                    after = past.seq
                    yield past
                for missed in subscriber.missed():
                    if isinstance(missed, ev.Durable):
                        if missed.seq <= after:
                            continue
                        after = missed.seq
                    yield missed
                yield tuple(self.now.events())
                async for event in subscriber.live():
                    if isinstance(event, ev.Durable):
                        if event.seq <= after:
                            continue
                        after = event.seq
                    yield event
        finally:
            self._subscribers.discard(subscriber)

    def finish(self) -> None:
        """End the live readers: no more events will come."""
        self._finished = True
        while self._subscribers:
            self._subscribers.pop().close()


def merge_events(last: Any, new: Any) -> Any:
    """Merge both events if `new` only continues `last`; otherwise return None."""
    match new:
        case ev.TextDelta() if isinstance(last, ev.TextDelta) and not new.apart:
            return ev.TextDelta(last.text + new.text, last.apart)
        case ev.ThinkingDelta() if isinstance(last, ev.ThinkingDelta):
            return ev.ThinkingDelta(last.text + new.text)
        case ev.ToolCallProgressed() if isinstance(last, ev.ToolCallProgressed) and last.call == new.call:
            return last.joined(new)
        case ev.HookProgressed() if isinstance(last, ev.HookProgressed) and last.run == new.run:
            return ev.HookProgressed(new.run, new.hook, new.moment, new.call, last.text + new.text)
        case ev.SubagentProgressed() if isinstance(last, ev.SubagentProgressed) and last.child == new.child:
            return new
        case ev.ToolCallDelta() if isinstance(last, ev.ToolCallDelta) and last.call == new.call:
            return ev.ToolCallDelta(new.call, last.name, last.arguments + new.arguments)
    return None
