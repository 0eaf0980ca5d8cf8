"""Picks out of a server's diagnostics the errors that an edit introduced. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from halocline.ports.diagnostics import Problem

ERROR = 1
MOST_KEPT = 500
"""Largest number of errors considered per file."""
_LONGEST_TEXT = 160
_LONGEST_MESSAGE = 400
_LONGEST_NAME = 60


class Position(msgspec.Struct):
    line: int = 0


class Range(msgspec.Struct):
    start: Position = msgspec.field(default_factory=Position)


class Diagnostic(msgspec.Struct):
    """A diagnostic as servers send it. One without a severity counts as an error."""

    range: Range
    message: str | dict[str, object] = ""
    severity: int | None = None
    code: int | str | None = None
    source: str | None = None


def select_errors(path: Path, lines: Sequence[str], said: Iterable[Diagnostic], server: str) -> tuple[Problem, ...]:
    """The errors among the diagnostics, each once, in file order, with the text of their line."""
    grave = islice((one for one in said if one.severity in (ERROR, None)), MOST_KEPT)
    found = dict.fromkeys(_make_problem(path, lines, one, server) for one in grave)
    return tuple(sorted(found, key=lambda problem: problem.line))


def _make_problem(path: Path, lines: Sequence[str], said: Diagnostic, server: str) -> Problem:
    row = max(0, said.range.start.line)
    text = lines[row].strip() if row < len(lines) else ""
    message = said.message if isinstance(said.message, str) else str(said.message.get("value", ""))
    return Problem(
        path,
        row + 1,
        _shorten_text(text, _LONGEST_TEXT),
        _shorten_text(message.strip(), _LONGEST_MESSAGE),
        "" if said.code is None else _shorten_text(str(said.code), _LONGEST_NAME),
        _shorten_text(said.source or server, _LONGEST_NAME),
    )


def _shorten_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def sort_of(problem: Problem) -> tuple[str, str, str]:
    """The identity of a problem, which does not change when its line moves."""
    return problem.message, problem.code, problem.text


def new_errors(old: Sequence[Problem], now: Sequence[Problem]) -> tuple[Problem, ...]:
    """The errors in `now` that are not in `old`, whatever their lines."""
    known = Counter(map(sort_of, old))
    fresh: list[Problem] = []
    for problem in now:
        if known[sort_of(problem)]:
            known[sort_of(problem)] -= 1
        else:
            fresh.append(problem)
    return tuple(fresh)
