"""Strategies to find an edit's lines, from strict to lenient. The first one that finds anything decides.

A strategy returns every place that it finds; `locate` decides whether one of them is meant. Nothing is ever found by
position alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from halocline.edits.edit import Edit, Grain
from halocline.edits.matching.anchors import find_anchored
from halocline.edits.matching.lines import MOST, Form, Lines, text_before
from halocline.edits.matching.similarity import as_is, fold_line, folded_trimmed
from halocline.protocol.values import Value

Scope = tuple[int, int]
"""Lines from the first up to the second, from 0."""


class How(StrEnum):
    """The strategy by which an edit found its place, as reports name it."""

    EXACT = "exact"
    TRAILING = "ignoring whitespace at line ends"
    INDENTED = "ignoring indentation"
    LOOKALIKE = "ignoring look-alike characters"
    LOOKALIKE_INDENTED = "ignoring look-alike characters and indentation"
    ANCHORED = "by similar lines"
    INSERTED = "inserted"
    WHOLE_FILE = "whole file"


class Found(Value, frozen=True):
    """A place: characters `start` up to `end` of the view, without the last line's ending.

    `lines` maps each searched line to a line of the file (None: no match); empty for a part of a line.
    """

    start: int
    end: int
    lines: tuple[int | None, ...] = ()


class MatchStrategy(Value, frozen=True):
    """One strategy. `moves`: the replacement may need another indentation."""

    how: How
    find: Callable[[Lines, Edit, Scope], list[Found]]
    moves: bool = False


def _by_form(form: Form) -> Callable[[Lines, Edit, Scope], list[Found]]:
    def find(lines: Lines, edit: Edit, scope: Scope) -> list[Found]:
        found = [(at, at + len(edit.search)) for at in lines.in_form(form).places(edit.search, *scope)]
        return [Found(lines.starts[first], lines.end(end - 1), tuple(range(first, end))) for first, end in found]

    return find


def _find_texts(lines: Lines, edit: Edit) -> list[Found]:
    """Find the searched text verbatim, regardless of line boundaries."""
    if not all(map(lines.in_form(as_is).holds, edit.search[1:-1])):
        return []
    text = "\n".join(edit.search)
    found = [Found(start, start + len(text)) for start in find_occurrences(lines.view, text)]
    return [one for one in found if _is_not_in_the_margin(lines.view, one, edit)]


def _match_literal(lines: Lines, edit: Edit, scope: Scope) -> list[Found]:
    """Find any text, for an edit written in characters rather than lines."""
    return _find_texts(lines, edit) if edit.grain is Grain.CHARACTERS else []


def _but_for_the_margin(lines: Lines, edit: Edit, scope: Scope) -> list[Found]:
    """Find several whole lines of which only the first lost its indentation, or the last its trailing blanks."""
    if edit.grain is not Grain.WORDS or len(edit.search) < 2:
        return []
    firsts = {lines.number(one.start) - 1 for one in _find_texts(lines, edit)}
    return [one for one in indented(lines, edit, scope) if one.lines[0] in firsts] if firsts else []


def _match_part(lines: Lines, edit: Edit, scope: Scope) -> list[Found]:
    """Find a part of a line that cuts no word; it is meant if no whole line was found."""
    if edit.grain is not Grain.WORDS or not edit.search[0].strip() or not edit.search[-1].strip():
        return []
    return [one for one in _find_texts(lines, edit) if _reads_as_lines(lines.view, one, edit)]


def find_occurrences(view: str, text: str) -> Iterator[int]:
    """Yield the positions of a text, at most `MOST`."""
    at, count = view.find(text), 0
    while at >= 0 and count < MOST:
        yield at
        at, count = view.find(text, at + 1), count + 1


def _reads_as_lines(view: str, found: Found, edit: Edit) -> bool:
    """Return True if no word is cut, and no replacement of lines starts right after unsearched indentation."""
    before = text_before(view, found.start)
    grows = (len(edit.search) == 1 and len(edit.replace) > 1) or "".join(edit.replace[:1])[:1].isspace()
    after_margin = before != "" and not before.strip()
    return not (_cuts_a_word(view, found.start) or _cuts_a_word(view, found.end) or (after_margin and grows))


def _is_not_in_the_margin(view: str, found: Found, edit: Edit) -> bool:
    """Return False for text with leading blanks inside a deeper indentation: another strategy can reindent it."""
    before = text_before(view, found.start)
    return not (before and not before.strip() and edit.search[0][:1].isspace())


def _cuts_a_word(view: str, at: int) -> bool:
    return 0 < at < len(view) and bool(re.fullmatch(r"\w\w", view[at - 1 : at + 1]))


def _match_similar(lines: Lines, edit: Edit, scope: Scope) -> list[Found]:
    """Find equal first and last lines with a similar middle; no line that the edit changes may differ."""
    return [
        Found(lines.starts[first], lines.end(last), mapping)
        for first, last, mapping in find_anchored(lines.in_form(folded_trimmed), edit, scope)
    ]


indented = _by_form(str.strip)
"""Find some lines, ignoring whitespace at both ends."""

STRATEGIES: Sequence[MatchStrategy] = (
    MatchStrategy(How.EXACT, _by_form(as_is)),
    MatchStrategy(How.EXACT, _match_literal),
    MatchStrategy(How.EXACT, _but_for_the_margin, moves=True),
    MatchStrategy(How.TRAILING, _by_form(str.rstrip)),
    MatchStrategy(How.INDENTED, indented, moves=True),
    MatchStrategy(How.LOOKALIKE, _by_form(fold_line)),
    MatchStrategy(How.LOOKALIKE_INDENTED, _by_form(folded_trimmed), moves=True),
    MatchStrategy(How.EXACT, _match_part),
    MatchStrategy(How.ANCHORED, _match_similar, moves=True),
)
