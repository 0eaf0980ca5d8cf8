"""Secrets whose values are known, found in a text however they are written there; pure.

A value is also found in base64 (at each of the three offsets), percent-encoded, in hexadecimal, with the escapes of
JSON, and broken over lines. Short values are never looked for: `test`, `none` or `x` are words, and everywhere.
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from urllib.parse import quote

import msgspec

from halocline.protocol.secrets.values import SHORTEST

_BREAK = r"(?:[\"']?[ \t]*\\?\r?\n(?:[ \t>|+:\d-]{0,12}[\"']?))?"
"""A line's end within a value: with the sign that continues a line, the number or sign that begins the next one."""
_END = 2
"""Characters at either end of a value that are looked for first, where a line may end within it."""
Span = tuple[int, int]


class KnownSecrets:
    """The values to look for."""

    def __init__(self, values: Iterable[str]) -> None:
        usable = {value.strip() for value in values}
        self.values = frozenset(value for value in usable if len(value) >= SHORTEST and any(map(str.isalnum, value)))

    def spans(self, text: str) -> Iterator[Span]:
        """Where they stand, in no order; they may overlap."""
        for form in self._forms:
            at = text.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = text.find(form, at + len(form))
        if self._forms and "\n" in text:
            yield from self._broken(text)

    def _broken(self, text: str) -> Iterator[Span]:
        """Those with a line's end within."""
        suspects = [form for form in self._forms if form[:_END] in text and form[-_END:] in text]
        joined = "".join(map(_without_ends, text.split("\n"))) if suspects else ""
        for form in suspects:
            if form in joined:
                pattern = _BREAK.join(map(re.escape, form))
                yield from (found.span() for found in re.finditer(pattern, text))

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        """Each value in every way of writing it, the longest first."""
        forms = {form for value in self.values for form in _written_forms(value)}
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _without_ends(line: str) -> str:
    """A line without what stands at its ends when a value goes on over them."""
    head = line.lstrip(" \t>|+:-0123456789")
    return head[head[:1] in ("'", '"') :].rstrip("\r\\ \t\"'")


def _written_forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield quote(value, safe="", errors="surrogatepass")
    yield data.hex()
    yield data.hex().upper()
    for encode in (b64encode, urlsafe_b64encode):
        yield from _in_base64(data, encode)
    yield msgspec.json.encode(value).decode()[1:-1]
    yield json.dumps(value)[1:-1]


def _in_base64(data: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """What of the encoding does not depend on what stands around the value."""
    for offset in range(3):
        written = encode(b"\0" * offset + data).decode()
        first = (offset * 8 + 5) // 6
        last = (offset + len(data)) * 8 // 6
        yield written[first:last]
