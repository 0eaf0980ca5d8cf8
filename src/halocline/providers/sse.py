"""Incremental parsers of streams: chunks of bytes in, data payloads out; of server-sent events, and of JSON lines.

Pure. The payloads do not depend on how the bytes are split. Event names, ids and comments are ignored: the wire
formats we speak repeat the event's type inside its data. The blank line behind an event may be missing: a whole JSON
object is an event of its own.
"""

import re
from collections.abc import Iterable

from halocline.protocol import json_input
from halocline.protocol.patterns import compile_later

_BOM = b"\xef\xbb\xbf"
_HALVES = compile_later(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89abAB][0-9a-fA-F]{2})|(u[dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class SplitCharacters:
    """Joins the halves in the payloads of one stream."""

    def __init__(self) -> None:
        self._first = b""

    def join(self, payload: bytes) -> bytes:
        """Return the payload without halves. Most have none and come back as they are."""
        if b"\\ud" not in payload and b"\\uD" not in payload:
            return payload
        return _HALVES.sub(self._replace_half, payload)

    def _replace_half(self, found: re.Match[bytes]) -> bytes:
        first, second = found.groups()
        if first:
            self._first = b"\\" + first
            return b""
        if second:
            whole, self._first = self._first + b"\\" + second if self._first else b"\\ufffd", b""
            return whole
        return found.group()


class LineParser:
    """Turns chunks of a stream with one JSON document a line into these. An unfinished last line is in `rest`."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self.waiting = 0
        """Bytes of what is unfinished."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads that `chunk` completes, without empty ones."""
        self._pending.append(chunk)
        self.waiting += len(chunk)
        if b"\n" not in chunk:
            return []
        *lines, rest = self._take().split(b"\n")
        self._keep(rest)
        return [line for line in lines if line.strip()]

    def rest(self) -> list[bytes]:
        """Return the payloads at the end of the stream, where their ends are missing, if they are whole."""
        return list(filter(_is_whole, self._last(self._take())))

    def _last(self, block: bytes) -> Iterable[bytes]:
        return (block,)

    def _take(self) -> bytes:
        whole = b"".join(self._pending)
        self._keep(b"")
        return whole

    def _keep(self, rest: bytes) -> None:
        self._pending = [rest] if rest else []
        self.waiting = len(rest)


class EventParser(LineParser):
    """Turns chunks of a stream into the data payloads of its events. An unfinished last event is in `rest`."""

    def __init__(self) -> None:
        super().__init__()
        self._head = b""
        self._started = False
        self._after_return = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads of the events that `chunk` completes."""
        if not self._started:
            chunk = self._without_bom(chunk)
        if self._after_return or b"\r" in chunk:
            chunk = self._with_plain_line_ends(chunk)
        if not chunk:
            return []
        seam = self._pending[-1][-1:] + chunk if self._pending else chunk
        self._pending.append(chunk)
        self.waiting += len(chunk)
        if b"\n\n" in seam:
            return self._split()
        return self._take_lines() if b"\n" in chunk else []

    def _last(self, block: bytes) -> Iterable[bytes]:
        return _event_data(block)

    def _split(self) -> list[bytes]:
        *blocks, rest = self._take().split(b"\n\n")
        self._keep(rest)
        payloads = [data for block in blocks for data in _event_data(block)]
        return payloads + self._take_lines() if b"\n" in rest else payloads

    def _take_lines(self) -> list[bytes]:
        """Take the events that end with their lines. Lines that hold no data are forgotten."""
        *lines, last = self._take().split(b"\n")
        data = [line for line in lines if _has_data(line)]
        *whole, begun = _group_lines(data) or [[]]
        self._keep(b"\n".join([*begun, last]))
        return [_join_data(group) for group in whole]

    def _without_bom(self, chunk: bytes) -> bytes:
        chunk = self._head + chunk
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._head = chunk
            return b""
        self._started, self._head = True, b""
        return chunk.removeprefix(_BOM)

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        if not chunk:
            return chunk
        # A chunk may end between the two bytes of a line end; the first one already counted.
        if self._after_return:
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _event_data(block: bytes) -> Iterable[bytes]:
    """Return the data of the event, or of the events, in a block."""
    if block.startswith(b"data: ") and b"\n" not in block:
        return (block[6:],)
    return map(_join_data, _group_lines([line for line in block.split(b"\n") if _has_data(line)]))


def _group_lines(lines: Iterable[bytes]) -> list[list[bytes]]:
    """Group the data lines by event: a line that is a whole object is an event of its own, if another one follows."""
    groups: list[list[bytes]] = []
    for line in lines:
        if not groups or (len(groups[-1]) == 1 and _is_whole(_join_data(groups[-1]))):
            groups.append([])
        groups[-1].append(line)
    return groups


def _is_whole(data: bytes) -> bool:
    """True for the end mark, and for a JSON object that is not cut."""
    if not data.lstrip().startswith(b"{"):
        return data == b"[DONE]"
    return json_input.decode_or(None, data) is not None


def _has_data(line: bytes) -> bool:
    return line.startswith(b"data:") or line == b"data"


def _join_data(lines: Iterable[bytes]) -> bytes:
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)
