"""Reads logs: the past from disk, and what another process keeps writing.

Events are counted as they are read: a missing, duplicate, swapped or unreadable line raises `LogDamaged`, which says
how far the log is intact. Nothing is guessed; `log_mending` repairs on request.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

import msgspec

from halocline.protocol import codec
from halocline.protocol.errors import LogDamaged, LogTooNew
from halocline.protocol.events import DurableEvent
from halocline.task.lock import describe_deleted

FOLLOW_EVERY = 0.05
"""Seconds between polls of a log that another process writes."""


def read_log(path: Path, after: int = 0) -> Iterator[DurableEvent]:
    """Yield the events of a log after `after`; an incomplete last line is skipped.

    Raises:
        LogDamaged: a line that is not the last one cannot be read, or is not the next event.
        TaskNotFound: there is no log: the task was deleted.
    """
    with _open_log(path) as file:
        # Line by line, as a log may be large, and never past a line that is still being written.
        for event in _decode_lines(takewhile(is_whole, file), path):
            if event.seq > after:
                yield event


def _open_log(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise describe_deleted(path.parent.name) from None


def is_whole(line: bytes) -> bool:
    return line.endswith(b"\n")


async def follow_log(path: Path, after: int = 0) -> AsyncIterator[DurableEvent]:
    """Yield past and future events of a log that another process writes, until canceled."""
    tail = Tail(path)
    while True:
        for event in await asyncio.to_thread(tail.read):
            if event.seq > after:
                after = event.seq
                yield event
        await asyncio.sleep(FOLLOW_EVERY)


class Tail:
    """Reads a log that another process writes, each line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._seq = 0
        self._ahead: deque[DurableEvent] = deque()

    def read(self, up_to: int | None = None) -> list[DurableEvent]:
        """Return the new events, up to `up_to`. Raises LogDamaged and TaskNotFound."""
        if up_to is None or not self._ahead or self._ahead[-1].seq < up_to:
            self._ahead.extend(self._read_new())
        found = []
        while self._ahead and (up_to is None or self._ahead[0].seq <= up_to):
            found.append(self._ahead.popleft())
        return found

    def _read_new(self) -> list[DurableEvent]:
        with _open_log(self._path) as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        events = list(_decode_lines(data[:whole].split(b"\n"), self._path, self._seq))
        self._seq += len(events)
        return events


def check_format(line: bytes, path: Path) -> None:
    """Raises LogTooNew if the first line of a log names a format newer than this version reads."""
    if (written := codec.format_of(line)) > codec.FORMAT:
        raise LogTooNew(
            f"The log {path} was written by a newer version of Halocline, in format {written}; this "
            f"version reads up to format {codec.FORMAT}.",
            "Update Halocline to continue this task. Nothing was changed.",
        )


def _decode_lines(lines: Iterable[bytes], path: Path, seq: int = 0) -> Iterator[DurableEvent]:
    """Decode the lines that follow event `seq`."""
    for line in lines:
        if not line or line.isspace():
            continue
        if not seq:
            check_format(line, path)
        event = _decode_event(line, seq, path)
        if event.seq != seq + 1:
            raise _damaged_log(f"event {event.seq} found in place of event {seq + 1}", seq, path)
        seq = event.seq
        yield event


def _decode_event(line: bytes, seq: int, path: Path) -> DurableEvent:
    try:
        return codec.decode(line)
    except msgspec.DecodeError as error:
        raise _damaged_log(f"line {seq + 1} cannot be read: {error}", seq, path) from error


def _damaged_log(wrong: str, whole: int, path: Path) -> LogDamaged:
    kept = f"Events 1 to {whole} are intact" if whole else "No event before it is intact"
    return LogDamaged(
        f"The log of task {path.parent.name} is damaged: {wrong}. {kept}. The log: {path}",
        "Run halo doctor --fix: it repairs what it can and keeps the damaged log; then the task can continue."
        if whole
        else "Run halo doctor --fix: it looks for the beginning further on. A backup may have it, too.",
    )
