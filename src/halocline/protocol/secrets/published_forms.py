"""Finds keys by their published forms (`forms`); fast, because it only tries a form where its mark occurs; pure."""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple

from halocline.protocol.secrets.forms import SHAPES, TOKENS

SHORTEST_RUN = 14
_GATES = ("<", "$", "~", "//", "authorization", "key", "token: ", "cookie", "hook", "dp.")
"""Texts shared by several marks, so that one search covers them all; one letter is found fastest."""
_BEFORE, _BEHIND = 64, 256
"""Search window around a mark, in characters, for forms with the mark in the middle."""
_LONG = ("private key",)
"""Marks of forms that may be far longer."""
Found = tuple[int, int, str]


def long_runs(data: bytes) -> frozenset[str]:
    """Return the long runs of letters, digits, `_` and `-` in a UTF-8 text; much faster to search than the text."""
    return frozenset(
        data[start:end].decode() for start, end in find_runs(data, f"{ascii_letters}{digits}_-", SHORTEST_RUN)
    )


def find_runs(data: bytes, signs: str, shortest: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the runs of ASCII `signs`; far faster than a pattern, which tries each letter."""
    marked, run = data.translate(_mark_signs(signs)), b"x" * shortest
    at = marked.find(run)
    while at >= 0:
        end = marked.find(b" ", at)
        yield at, (end := len(data) if end < 0 else end)
        at = marked.find(run, end)


@lru_cache(None)
def _mark_signs(signs: str) -> bytes:
    return bytes(b"x "[chr(sign) not in signs] for sign in range(256))


def published_forms(text: str, data: bytes, runs: frozenset[str]) -> Iterator[Found]:
    """Yield the span and name of each match, in no order. `data` is the text as UTF-8, `runs` its long runs."""
    lower = text.lower()
    is_same = len(lower) == len(text)  # the lowercase form of a few letters is longer
    for row in _possible_forms(data, runs):
        if row.place is _Place.ANYWHERE or not (row.is_token or is_same):
            yield from ((*found.span(), row.name) for found in _compile(row.pattern).finditer(text))
        else:
            yield from _at_marks(row, text, text if row.is_token else lower)


def may_have_form(data: bytes, runs: frozenset[str]) -> bool:
    """True if the text may have a form; never false for a text that has one."""
    return any(True for _ in _possible_forms(data, runs))


class _Place(Enum):
    """The place of a form in relation to its mark."""

    AT = 1
    BEHIND = 2
    BEFORE = 3
    ANYWHERE = 4


class _Row(NamedTuple):
    """One form; its pattern is compiled when it is first tried, because few ever are.

    `is_run`: its mark starts a run of letters, digits, `_` and `-`.
    """

    name: str
    mark: str
    pattern: str
    is_token: bool
    is_run: bool
    place: _Place
    sign: bytes
    """The mark, encoded."""

    def find_at(self, text: str, at: int) -> re.Match[str] | None:
        """Match the form with its mark at this position."""
        match self.place:
            case _Place.AT:
                return _compile(self.pattern).match(text, at)
            case _Place.BEHIND:
                return _compile(self.pattern).match(text, at + len(self.mark))
            case _:
                return _compile(self.pattern).search(text, max(0, at - _BEFORE), at + _BEHIND)


@lru_cache(None)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def _at_marks(row: _Row, text: str, marks: str) -> Iterator[Found]:
    """Match a form at its marks only: much faster than a search, because marks are rare."""
    at = marks.find(row.mark)
    while at >= 0:
        found = row.find_at(text, at)
        if found:
            yield *found.span(), row.name
        at = marks.find(row.mark, max(found.end(), at + 1) if found else at + 1)


def _possible_forms(data: bytes, runs: frozenset[str]) -> Iterator[_Row]:
    """Return the forms that a text may have. Tokens, the most numerous, start where a run does."""
    by_head, *by_gates = _build_rows()
    yield from {row: None for run in runs for row in by_head.get(run[:2], ()) if run.startswith(row.mark)}
    lower = data.lower()
    for gate, rows in by_gates[not runs].items():
        if gate in lower:
            yield from (row for row in rows if row.sign in (data if row.is_token else lower))


@lru_cache(1)
def _build_rows() -> tuple[dict[str, list[_Row]], dict[bytes, list[_Row]], dict[bytes, list[_Row]]]:
    """Build all forms on first use: by the first two letters of a run, and by a text that must occur.

    The last are those that a text without long runs may have.
    """
    by_head: dict[str, list[_Row]] = {}
    by_gate: dict[bytes, list[_Row]] = {}
    for row in (*_shape_rows(), *_token_rows()):
        if row.is_run:
            by_head.setdefault(row.mark[:2], []).append(row)
        else:
            gate = next((gate for gate in _GATES if gate in row.mark.lower()), row.mark.lower())
            by_gate.setdefault(gate.encode(), []).append(row)
    without = ((gate, [row for row in rows if not _has_long_run(row.pattern)]) for gate, rows in by_gate.items())
    return by_head, by_gate, {gate: rows for gate, rows in without if rows}


def _has_long_run(pattern: str) -> bool:
    """True if all that match a pattern have a long run, as with `[a-f0-9]{32}`: no such part is optional."""
    return any(int(least) >= SHORTEST_RUN for least in re.findall(r"\[[A-Za-z0-9_-]+\]\{(\d+)", pattern))


def _token_rows() -> Iterator[_Row]:
    for name, patterns in TOKENS.items():
        for pattern in patterns:
            mark = _mark_of(pattern)
            alone = rf"(?<![A-Za-z0-9_-]){pattern}(?![A-Za-z0-9])"
            yield _Row(
                name, mark, alone, True, len(mark) > 1 and bool(re.fullmatch(r"[\w-]+", mark)), _Place.AT, mark.encode()
            )


def _shape_rows() -> Iterator[_Row]:
    for name, rows in SHAPES.items():
        for mark, pattern in rows:
            yield _Row(name, mark, pattern, mark != mark.lower(), False, _make_place(mark, pattern), mark.encode())


def _make_place(mark: str, pattern: str) -> _Place:
    if pattern.startswith(("(?<=", "(?i:(?<=")):
        return _Place.BEHIND
    if mark in _LONG:
        return _Place.ANYWHERE
    return _Place.AT if _mark_of(pattern.removeprefix(r"\b")).lower().startswith(mark) else _Place.BEFORE


def _mark_of(pattern: str) -> str:
    """Return the literal prefix of a pattern."""
    found = re.match(r"(?:[^\\[({.*+?|$^]|\\.)*", pattern)
    assert found is not None
    return found[0].replace("\\", "")
