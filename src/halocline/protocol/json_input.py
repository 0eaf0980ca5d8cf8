"""Reads untrusted JSON; JSON that is nested too deeply is rejected like invalid JSON.

msgspec raises RecursionError for it, which no caller expects, and only at depths that later recursive code cannot
handle. A test checks that all foreign JSON is read here. Our own logs are read at any depth. Half of a character,
which JavaScript writes where it cut one in two and msgspec refuses, is read as U+FFFD.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

import msgspec

from halocline.protocol.patterns import compile_later

T = TypeVar("T")
D = TypeVar("D")
TOO_DEEP = "it is nested too deeply"
DEEPEST = 128
"""Maximum nesting of lists and objects."""
_MARK = b"\xef\xbb\xbf"
"""Byte order mark, which some editors write."""
_NOTES = compile_later(rb'("[^"\\]*(?:\\.[^"\\]*)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMAS = compile_later(rb'("[^"\\]*(?:\\.[^"\\]*)*"?)|,(?=\s*[}\]])', re.DOTALL)
_HALVES = compile_later(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_BRACKETS = compile_later(rb"\[+|\]+")
_ALIKE = bytes.maketrans(b"{}", b"[]")
_REST = bytes(set(range(256)) - set(b'[]{}"'))


class Decoder(Generic[T]):
    """Like `msgspec.json.Decoder`, but built with its first use. `deepest` is None for our own files."""

    @overload
    def __init__(self: "Decoder[Any]") -> None: ...
    @overload
    def __init__(self: "Decoder[T]", type: type[T], deepest: int | None = DEEPEST) -> None: ...
    @overload
    def __init__(self: "Decoder[Any]", type: Any, deepest: int | None = DEEPEST) -> None: ...
    def __init__(self, type: Any = Any, deepest: int | None = DEEPEST) -> None:
        self._type = type
        self._deepest = deepest

    @cached_property
    def _decode(self) -> Callable[[bytes | str], Any]:
        decode: Callable[[bytes | str], Any] = msgspec.json.Decoder(self._type).decode
        return decode

    def decode(self, data: bytes | str) -> T:
        """Decode JSON. Raises msgspec.DecodeError."""
        if self._deepest is not None and is_deeper(data, self._deepest):
            raise msgspec.DecodeError(TOO_DEEP)
        try:
            return self._decode_whole(data)
        except RecursionError as error:
            raise msgspec.DecodeError(TOO_DEEP) from error

    def _decode_whole(self, data: bytes | str) -> T:
        try:
            found: T = self._decode(data)
        except msgspec.DecodeError:
            if (whole := replace_halves(data)) is data:
                raise
            found = self._decode(whole)
        return found


@overload
def decode(data: bytes | bytearray | memoryview | str) -> Any: ...
@overload
def decode(data: bytes | bytearray | memoryview | str, type: type[T]) -> T: ...
@overload
def decode(data: bytes | bytearray | memoryview | str, type: Any) -> Any: ...
def decode(data: bytes | bytearray | memoryview | str, type: Any = Any) -> Any:
    """Like `msgspec.json.decode`. Raises msgspec.DecodeError."""
    given = replace_halves(data if isinstance(data, str) else bytes(data))
    if is_deeper(given, DEEPEST):
        raise msgspec.DecodeError(TOO_DEEP)
    return msgspec.json.decode(given, type=type)


@overload
def decode_or(default: D, data: bytes | str) -> Any: ...
@overload
def decode_or(default: D, data: bytes | str, type: type[T]) -> T | D: ...
def decode_or(default: Any, data: bytes | str, type: Any = Any) -> Any:
    """Decode JSON; what is none, or of another form, is `default`."""
    try:
        return decode(data, type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return default


def decode_config(data: bytes) -> Any:
    """Decode JSON that people edit: it may have comments, last commas and a byte order mark.

    Raises msgspec.DecodeError.
    """
    try:
        return decode(data.removeprefix(_MARK))
    except msgspec.DecodeError:
        return decode(without_comments(data))


@overload
def replace_halves(data: bytes) -> bytes: ...
@overload
def replace_halves(data: bytes | str) -> bytes | str: ...
def replace_halves(data: bytes | str) -> bytes | str:
    """Return JSON with U+FFFD for each escaped half of a character. Most has none and comes back as it is."""
    if isinstance(data, str):
        if "\\ud" not in data and "\\uD" not in data:
            return data
        data = data.encode(errors="replace")
    elif b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _HALVES.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)


def without_comments(data: bytes) -> bytes:
    """Return JSON without what editors allow in their settings: comments, and commas before a closing bracket."""
    plain = data.removeprefix(_MARK)
    for extra in (_NOTES, _LAST_COMMAS):
        plain = extra.sub(lambda found: found[1] or b" ", plain)
    return plain


def is_deeper(data: bytes | str, deepest: int) -> bool:
    """True if JSON text, complete or cut off, is nested more deeply than `deepest`."""
    opening = (data.count("[") + data.count("{")) if isinstance(data, str) else (data.count(b"[") + data.count(b"{"))
    if opening <= deepest:  # nearly always
        return False
    brackets = _brackets_of(data.encode(errors="replace") if isinstance(data, str) else data)
    return not _vanishes(brackets, deepest) and _depth_of(brackets) > deepest


def _brackets_of(text: bytes) -> bytes:
    """Return the brackets outside of strings, all as square ones; behind an error in the JSON they may be wrong."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    quoted = text.translate(_ALIKE, _REST).replace(b'""', b"")
    return b"".join(quoted.split(b'"')[::2])


def _vanishes(brackets: bytes, passes: int) -> bool:
    """True if nothing is left when pairs were removed so often: fast proof of a depth, for complete JSON."""
    for _ in range(passes):
        if not brackets:
            return True
        left = brackets.replace(b"[]", b"")
        if len(left) == len(brackets):
            return False
        brackets = left
    return not brackets


def _depth_of(brackets: bytes) -> int:
    depth = deepest = 0
    for run in _BRACKETS.findall(brackets):
        depth += len(run) if run.startswith(b"[") else -len(run)
        deepest = max(deepest, depth)
    return deepest
