"""Finds secrets with known values in a text, in any encoding; pure.

A value is also found in base64 (at each of the three offsets), percent-encoded, in hexadecimal, as JSON, HTML, shells
and Python quote it, and over lines. Short values are never searched for: `test`, `none` or `x` are common words.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from urllib.parse import quote, quote_plus

import msgspec

from halocline.protocol.patterns import compile_later
from halocline.protocol.secrets.values import SHORTEST

_BREAK = r"(?:[\"']?[ \t]*\\?\r?\n(?:[ \t>|+:\d-]{0,12}[\"']?))?"
"""A line break within a value, with a continuation sign before it, and a line number or sign after it."""
_AT_ENDS = b" \t>|+:-0123456789\"'\\\r\n"
"""What may stand at the ends of lines within a wrapped value; it is left out to see if a value may be wrapped."""
_ESCAPED = compile_later(r"\\"), compile_later(r"[\"\\$`]"), compile_later(r"[^\w@%+=:,./-]")
"""What a backslash stands before in strings of Python, in double quotes of shells, and in words of shells."""
Span = tuple[int, int]


class KnownSecrets:
    """Known secrets to search for."""

    def __init__(self, values: Iterable[str]) -> None:
        usable = {value.strip() for value in values}
        self.values = frozenset(value for value in usable if len(value) >= SHORTEST and any(map(str.isalnum, value)))

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the spans of all matches, in no order; they may overlap."""
        for form in self._forms:
            at = text.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = text.find(form, at + len(form))
        if self._forms and "\n" in text:
            yield from self._broken(text)

    def _broken(self, text: str) -> Iterator[Span]:
        """Yield the spans of values wrapped over lines."""
        suspects = [form for form in self._forms if form[0] in text and form[-1] in text]
        joined = _without_ends(text) if suspects else b""
        for form in suspects:
            if _without_ends(form) in joined:
                pattern = _BREAK.join(map(re.escape, form))
                yield from (found.span() for found in re.finditer(pattern, text))

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        """All encodings of all values, the longest first."""
        forms = {form for value in self.values for form in _written_forms(value)}
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _without_ends(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").translate(None, _AT_ENDS)


def _written_forms(value: str) -> Iterator[str]:
    from html import escape  # brings tables of all entities; most runs have no secret

    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield from (quote(value, safe=safe, errors="surrogatepass") for safe in ("", "/"))
    yield quote_plus(value, errors="surrogatepass")
    yield escape(value)
    yield from (value.replace("'", quoted) for quoted in ("'\\''", "'\"'\"'"))
    yield from (sign.sub(r"\\\g<0>", value) for sign in _ESCAPED)
    yield data.hex()
    yield data.hex().upper()
    for encode in (b64encode, urlsafe_b64encode):
        yield from _in_base64(data, encode)
    written = msgspec.json.encode(value).decode()[1:-1]
    yield written
    yield msgspec.json.encode(written).decode()[1:-1]
    if not (value.isascii() and value.isprintable()):  # else it is the same form
        import json

        yield json.dumps(value)[1:-1]


def _in_base64(data: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """Yield the part of the encoding that does not depend on the surrounding text, for each offset."""
    for offset in range(3):
        written = encode(b"\0" * offset + data).decode()
        first = (offset * 8 + 5) // 6
        last = (offset + len(data)) * 8 // 6
        yield written[first:last]
