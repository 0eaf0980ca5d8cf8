"""The append-only log of one task: one JSON object a line, `seq` from 1, one writer.

A line is flushed when it is written, so a killed process loses nothing that was shown; `sync` makes it survive a power
cut too. A torn last line is cut when the log is opened for writing. Readers in this process get the past from disk and
then the live tail, without a gap; readers in another process follow the file.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from halocline.protocol import codec
from halocline.protocol.errors import HaloclineError, LogDamaged, LogTooNew
from halocline.protocol.events import (
    Durable,
    DurableEvent,
    Event,
    LogRepaired,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallProgressed,
    Transient,
)
from halocline.task import lock

FOLLOW_EVERY = 0.05
"""Seconds between looks at a log that another process writes."""
QUEUE_LIMIT = 2_000
"""Events a subscriber may lag behind before it is sent back to the disk."""
_TAIL = 64 * 1024

D = TypeVar("D", bound=DurableEvent)
E = TypeVar("E", bound=Event)


class LogUnwritable(HaloclineError):
    """The log cannot be written, so the task cannot go on; what was shown before is safe."""

    code = "log_unwritable"


class Log:
    """The one writer of a task's log."""

    def __init__(self, folder: Path, task: str, *, clock: Callable[[], float] = time.time) -> None:
        """Take the writer's lock.

        Raises:
            TaskBusy: another process (or another Log of this one) holds it.
            LogUnwritable: the disk is full, broken or read-only.
        """
        self.path = folder / codec.LOG_NAME
        self.task = task
        self.seq = 0
        self._clock = clock
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = lock.take(folder, task)
        except OSError as error:
            raise _not_opened(folder, error) from error
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            os.close(self._lock)
            raise _not_opened(folder, error) from error
        self._synced = 0
        self._subscribers: set[Subscriber] = set()
        self._finished = False

    def load(self) -> list[DurableEvent]:
        """Everything written so far. A torn last line is cut from the file, and the cut is recorded as an event."""
        whole, torn = _whole_and_torn(self._file)
        events = list(read(self.path))
        self.seq = events[-1].seq if events else 0
        if torn:
            os.ftruncate(self._file, whole)
            events.append(self.append(LogRepaired(bytes_cut=torn)))
        return events

    def append(self, event: D) -> D:
        """Number, date and write one event, then show it. Raises LogUnwritable; the file then ends as before."""
        stamped = replace(event, seq=self.seq + 1, at=round(self._clock(), 3), task=self.task)
        self._write(codec.encode(stamped) + b"\n")
        self.seq += 1
        return self.show(stamped)

    def show(self, event: E) -> E:
        """Pass an event to the live subscribers."""
        for subscriber in self._subscribers:
            subscriber.push(event)
        return event

    def attach(self, subscriber: "Subscriber") -> None:
        """Let somebody hear every event at once, within `append` and `show`, until the log is closed."""
        self._subscribers.add(subscriber)

    async def sync(self) -> None:
        """Make everything written so far survive a power cut. Raises LogUnwritable."""
        if self._synced < self.seq:
            seq = self.seq
            try:
                await asyncio.to_thread(os.fdatasync, self._file)
            except OSError as error:
                raise self._unwritable(error) from error
            self._synced = seq

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """The past after `after` from disk, then the live tail, until the log is closed."""
        subscriber = Subscription()
        self._subscribers.add(subscriber)
        if self._finished:
            subscriber.close()
        try:
            while not subscriber.at_end:
                subscriber.behind = False
                for past in read(self.path, after):
                    after = past.seq
                    yield past
                async for event in subscriber.live():
                    if isinstance(event, Durable):
                        if event.seq <= after:
                            continue
                        after = event.seq
                    yield event
        finally:
            self._subscribers.discard(subscriber)

    def finish(self) -> None:
        """Let the live readers end: nothing more will be written."""
        self._finished = True
        for subscriber in self._subscribers:
            subscriber.close()

    def close(self) -> None:
        """Let the readers end and give the lock back."""
        self.finish()
        os.close(self._file)
        os.close(self._lock)

    def _write(self, line: bytes) -> None:
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError("the disk took only part of a line")
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, size)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> LogUnwritable:
        return LogUnwritable(
            f"Cannot write the task's log {self.path}: {error}.",
            f"Everything up to event {self.seq} is safe. Make room or repair the disk, "
            f"then go on with: halo -r {self.task}",
        )


def _not_opened(folder: Path, error: OSError) -> LogUnwritable:
    return LogUnwritable(
        f"Cannot open a task's log in {folder}: {error.strerror or error}.",
        "Make room, or look at its permissions. HALOCLINE_HOME names another place.",
    )


class Subscriber(Protocol):
    """Hears events as they happen. It never raises."""

    def push(self, event: Event) -> None: ...

    def close(self) -> None:
        """Nothing more will come."""


class Subscription:
    """One live reader: a bounded queue in which neighbouring deltas join. It begins behind, with the disk to read."""

    def __init__(self) -> None:
        self.behind = True
        self._closed = False
        self._queue: deque[Event] = deque()
        self._wake = asyncio.Event()

    @property
    def at_end(self) -> bool:
        """Everything was passed on and nothing more will come."""
        return self._closed and not self.behind and not self._queue

    def push(self, event: Event) -> None:
        if self.behind:
            return
        if isinstance(event, Transient) and self._queue and (joined := _join(self._queue[-1], event)):
            self._queue[-1] = joined
            return
        self._queue.append(event)
        if len(self._queue) > QUEUE_LIMIT:
            self._queue.clear()
            self.behind = True
        self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._wake.set()

    async def live(self) -> AsyncIterator[Event]:
        """Events as they come; ends when the reader fell behind (read the disk again) or the log was closed."""
        while True:
            while self._queue:
                yield self._queue.popleft()
            if self.behind or self._closed:
                return
            self._wake.clear()
            await self._wake.wait()


def read(path: Path, after: int = 0) -> Iterator[DurableEvent]:
    """The events of a log after `after`; a last line that is not whole yet is left out.

    Raises:
        LogDamaged: a line that is not the last one cannot be read.
    """
    with suppress(FileNotFoundError), open(path, "rb") as file:
        # Line by line, as a log may be large; and never beyond one that is being written just now.
        for event in _decoded(takewhile(_is_whole, file), path):
            if event.seq > after:
                yield event


def _is_whole(line: bytes) -> bool:
    return line.endswith(b"\n")


async def follow(path: Path, after: int = 0) -> AsyncIterator[DurableEvent]:
    """Past and future events of a log that another process writes; goes on until it is cancelled."""
    offset = 0
    while True:
        data = await asyncio.to_thread(_read_from, path, offset)
        whole, _ = _whole_lines(data)
        offset += whole
        for event in _decoded(data[:whole].split(b"\n"), path):
            if event.seq > after:
                after = event.seq
                yield event
        await asyncio.sleep(FOLLOW_EVERY)


def _read_from(path: Path, offset: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read()


def _whole_lines(data: bytes) -> tuple[int, int]:
    """How many bytes are whole lines, and how many follow them."""
    whole = data.rfind(b"\n") + 1
    return whole, len(data) - whole


def _whole_and_torn(file: int) -> tuple[int, int]:
    """The same of a log on disk, of which only the end is looked at."""
    size = at = os.fstat(file).st_size
    tail = b""
    while at and b"\n" not in tail:
        at = max(0, at - _TAIL)
        tail = os.pread(file, _TAIL, at)
    whole = at + tail.rfind(b"\n") + 1
    return whole, size - whole


def _decoded(lines: Iterable[bytes], path: Path) -> Iterator[DurableEvent]:
    for number, line in enumerate(lines, start=1):
        if number == 1 and codec.format_of(line) > codec.FORMAT:
            raise LogTooNew(
                f"The log {path} was written by a newer version of Halocline, in format {codec.format_of(line)}; this "
                f"version reads up to format {codec.FORMAT}.",
                "Update Halocline to go on with this task. Nothing was changed.",
            )
        if line.strip():
            yield _event(line, number, path)


def _event(line: bytes, number: int, path: Path) -> DurableEvent:
    try:
        return codec.decode(line)
    except msgspec.DecodeError as error:
        raise LogDamaged(
            f"Line {number} of {path} cannot be read: {error}.",
            "The lines before it are intact. Put the damaged line aside to go on from there.",
        ) from error


def _join(last: Event, new: Event) -> Event | None:
    """Both as one event, when `new` only goes on with what `last` says."""
    match new:
        case TextDelta() if isinstance(last, TextDelta) and not new.apart:
            return TextDelta(last.text + new.text, last.apart)
        case ThinkingDelta() if isinstance(last, ThinkingDelta):
            return ThinkingDelta(last.text + new.text)
        case ToolCallProgressed() if isinstance(last, ToolCallProgressed) and last.call == new.call:
            return ToolCallProgressed(new.call, last.text + new.text)
        case ToolCallDelta() if isinstance(last, ToolCallDelta) and last.call == new.call:
            return ToolCallDelta(new.call, last.name, last.arguments + new.arguments)
    return None
