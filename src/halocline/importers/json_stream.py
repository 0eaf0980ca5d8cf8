"""JSON read piece by piece, so that a transcript may be larger than memory, torn anywhere, or garbage.

Files are opened to be read and never otherwise. A piece that cannot be read is None; what is too long ends the reading.
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
"""Bytes of one piece that are looked at."""
CHUNK = 1 << 20
HEAD = 1 << 19
_SIGN = re.compile(rb'["\[\]{}]')
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# What is nested too deeply for a log is cut later, value by value.
_decode = json_input.Decoder(Any, deepest=None).decode


def read_lines(path: Path) -> Iterator[JsonObject | None]:
    """The objects of a file of JSON lines."""
    try:
        with open_regular(path) as file:
            while line := file.readline(LONGEST):
                if line.strip():
                    yield _decode_object(line)
    except OSError:
        yield None


def read_head(path: Path, most: int) -> list[JsonObject]:
    """Objects of the first lines, for a list of many files: so many, or those in the first half megabyte."""
    found: list[JsonObject] = []
    try:
        with open_regular(path) as file:
            while len(found) < most and file.tell() < HEAD and (line := file.readline(LONGEST)):
                found += [one] if (one := _decode_object(line)) else []
    except OSError:
        pass
    return found


def read_elements(path: Path, key: str = "") -> Iterator[JsonObject | None]:
    """The objects of a JSON array: the file itself, or what stands under `key` in it."""
    try:
        with open_regular(path) as file:
            yield from map(_decode_object, _Pieces(file, key.encode()).cut())
    except OSError:
        yield None


def read_whole(path: Path, largest: int = LONGEST) -> object:
    """All of a small file; None when it is missing, too large or no JSON."""
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
    """What is JSON but for half a character (a program cut a text in two there), with a sign in its place."""
    if b"\\u" not in data and data.isascii():
        return None
    try:
        found = json.loads(data.decode("utf-8", "replace"))
        return _decode(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


class _Pieces:
    """Cuts the objects out of an array, by its brackets and strings alone."""

    def __init__(self, file: BinaryIO, key: bytes) -> None:
        self._file = file
        self._key = b'"' + key + b'"'
        self._inside = 2 if key else 1
        """How deep the wanted array is."""
        self._data = b""
        self._at = 0

    def cut(self) -> Iterator[bytes]:
        """Each object; an empty piece stands for what was torn."""
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
        """Let go of what was read, now and then; gives where the piece begins afterwards."""
        keep = self._at if begin < 0 else begin
        if keep < CHUNK:
            return begin
        self._data, self._at = self._data[keep:], self._at - keep
        return begin if begin < 0 else 0

    def _next(self) -> bytes:
        """The next bracket or whole string; nothing at the end."""
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
