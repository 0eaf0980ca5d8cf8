"""Reads logs: the past from disk, and what another process goes on writing.

Events are counted as they are read: a line that is missing, doubled, swapped or unreadable ends the reading with a
`LogDamaged` that says how far the log is whole. Nothing is guessed; `log_mending` mends on request.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import msgspec

from halocline.protocol import codec
from halocline.protocol.errors import LogDamaged, LogTooNew
from halocline.protocol.events import DurableEvent

FOLLOW_EVERY = 0.05
"""Seconds between looks at a log that another process writes."""


def read_log(path: Path, after: int = 0) -> Iterator[DurableEvent]:
    """The events of a log after `after`; a last line that is not whole yet is left out.

    Raises:
        LogDamaged: a line that is not the last one cannot be read, or is not the next event.
    """
    with suppress(FileNotFoundError), open(path, "rb") as file:
        # Line by line, as a log may be large; and never beyond one that is being written just now.
        for event in _decode_lines(takewhile(is_whole, file), path):
            if event.seq > after:
                yield event


def is_whole(line: bytes) -> bool:
    return line.endswith(b"\n")


async def follow_log(path: Path, after: int = 0) -> AsyncIterator[DurableEvent]:
    """Past and future events of a log that another process writes; goes on until it is cancelled."""
    tail = Tail(path)
    while True:
        for event in await asyncio.to_thread(tail.read):
            if event.seq > after:
                after = event.seq
                yield event
        await asyncio.sleep(FOLLOW_EVERY)


class Tail:
    """Reads a log that somebody else writes, each line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._seq = 0
        self._ahead: deque[DurableEvent] = deque()

    def read(self, up_to: int | None = None) -> list[DurableEvent]:
        """Return what is new in the log, no further than to `up_to`. Raises LogDamaged."""
        if up_to is None or not self._ahead or self._ahead[-1].seq < up_to:
            self._ahead.extend(self._new())
        found = []
        while self._ahead and (up_to is None or self._ahead[0].seq <= up_to):
            found.append(self._ahead.popleft())
        return found

    def _new(self) -> list[DurableEvent]:
        with open(self._path, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        events = list(_decode_lines(data[:whole].split(b"\n"), self._path, self._seq))
        self._seq += len(events)
        return events


def check_format(line: bytes, path: Path) -> None:
    """Raises LogTooNew when the first line of a log names a format that this version does not read."""
    if (written := codec.format_of(line)) > codec.FORMAT:
        raise LogTooNew(
            f"The log {path} was written by a newer version of Halocline, in format {written}; this "
            f"version reads up to format {codec.FORMAT}.",
            "Update Halocline to go on with this task. Nothing was changed.",
        )


def _decode_lines(lines: Iterable[bytes], path: Path, seq: int = 0) -> Iterator[DurableEvent]:
    """The events of lines that follow event `seq`."""
    for line in lines:
        if not line or line.isspace():
            continue
        if not seq:
            check_format(line, path)
        event = _decode_event(line, seq, path)
        if event.seq != seq + 1:
            raise _damaged_log(f"event {event.seq} stands where event {seq + 1} belongs", seq, path)
        seq = event.seq
        yield event


def _decode_event(line: bytes, seq: int, path: Path) -> DurableEvent:
    try:
        return codec.decode(line)
    except msgspec.DecodeError as error:
        raise _damaged_log(f"Line {seq + 1} cannot be read: {error}", seq, path) from error


def _damaged_log(wrong: str, whole: int, path: Path) -> LogDamaged:
    kept = f"Events 1 to {whole} are whole" if whole else "No event before it is whole"
    return LogDamaged(
        f"The log of task {path.parent.name} is damaged: {wrong}. {kept}. The log: {path}",
        "halo doctor --fix mends what can be mended and puts the damaged log aside; then the task can go on."
        if whole
        else "halo doctor --fix looks for its beginning further on; a backup may have it, too.",
    )
