"""Reads JSON piece by piece: a transcript may be larger than memory, cut off anywhere, or garbage.

Files are only opened for reading. An unreadable piece is None; a piece that is too long ends the reading.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from halocline.files.regular import open_regular
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

LONGEST = 64 * 1024 * 1024
"""Maximum bytes of one piece."""
CHUNK = 1 << 20
HEAD = 1 << 19
_SIGN = re.compile(rb'["\[\]{}]')
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# Values nested too deeply for a log are cut later, one by one.
_decode = json_input.Decoder(Any, deepest=None).decode


def read_lines(path: Path) -> Iterator[JsonObject | None]:
    """Yield the objects of a file of JSON lines."""
    try:
        with open_regular(path) as file:
            while line := file.readline(LONGEST):
                if line.strip():
                    yield _decode_object(line)
    except OSError:
        yield None


def read_head(path: Path, most: int) -> list[JsonObject]:
    """Read the objects of the first lines, for lists: at most `most`, and only in the first half megabyte."""
    found: list[JsonObject] = []
    try:
        with open_regular(path) as file:
            while len(found) < most and file.tell() < HEAD and (line := file.readline(LONGEST)):
                found += [one] if (one := _decode_object(line)) else []
    except OSError:
        pass
    return found


def read_elements(path: Path, key: str = "") -> Iterator[JsonObject | None]:
    """Yield the objects of a JSON array: the file itself, or the value of `key` in it."""
    try:
        with open_regular(path) as file:
            yield from map(_decode_object, _Pieces(file, key.encode()).cut())
    except OSError:
        yield None


def read_whole(path: Path, largest: int = LONGEST) -> object:
    """Read a small file; None if it is missing, too large or not JSON."""
    try:
        with open_regular(path) as file:
            data = file.read(largest + 1)
        return _decode(data.removeprefix(b"\xef\xbb\xbf")) if len(data) <= largest else None
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _decode_object(data: bytes) -> JsonObject | None:
    found: object
    try:
        found = _decode(data)
    except (msgspec.DecodeError, RecursionError):
        found = _decode_leniently(data)
    return found if isinstance(found, dict) else None


def _decode_leniently(data: bytes) -> object:
    """Decode JSON with half a character, where a program cut a text in two; a replacement character takes its place."""
    if b"\\u" not in data and data.isascii():
        return None
    try:
        found = json.loads(data.decode("utf-8", "replace"))
        return _decode(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


class _Pieces:
    """Splits an array into its objects, by brackets and strings alone."""

    def __init__(self, file: BinaryIO, key: bytes) -> None:
        self._file = file
        self._key = b'"' + key + b'"'
        self._inside = 2 if key else 1
        """Depth of the array to split."""
        self._data = b""
        self._at = 0

    def cut(self) -> Iterator[bytes]:
        """Yield each object; an empty piece for one that was cut off."""
        depth, begin, last, wanted = 0, -1, b"", self._inside == 1
        while sign := self._next():
            if sign[:1] == b'"':
                last = sign if depth == 1 else last
            elif sign in b"[{":
                depth += 1
                if depth == 2 and self._inside == 2:
                    wanted = sign == b"[" and last == self._key
                if depth == self._inside + 1 and wanted and sign == b"{":
                    begin = self._at - 1
            else:
                depth -= 1
                if begin >= 0 and depth == self._inside:
                    yield self._data[begin : self._at]
                    begin = -1
            begin = self._forget(begin)
            if len(self._data) > LONGEST:
                break
        if depth > 0 or begin >= 0:
            yield b""

    def _forget(self, begin: int) -> int:
        """Free data that was read, from time to time; return the new start of the piece."""
        keep = self._at if begin < 0 else begin
        if keep < CHUNK:
            return begin
        self._data, self._at = self._data[keep:], self._at - keep
        return begin if begin < 0 else 0

    def _next(self) -> bytes:
        """Return the next bracket or complete string; empty at the end."""
        while True:
            found = _SIGN.search(self._data, self._at)
            if found and found[0] != b'"':
                self._at = found.end()
                return found[0]
            if found and (string := _STRING.match(self._data, found.start())):
                self._at = string.end()
                return string[0]
            self._at = found.start() if found else len(self._data)
            if len(self._data) > LONGEST or not self._more():
                return b""

    def _more(self) -> bool:
        more = self._file.read(max(CHUNK, len(self._data)))
        self._data += more
        return bool(more)
