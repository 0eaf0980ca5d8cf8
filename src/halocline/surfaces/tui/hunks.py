"""The hunks of a file's diff, in one column or side by side, with the changed words marked."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from rich.text import Text
from textual.strip import Strip

from halocline.client import FileDifference
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value
from halocline.surfaces.cli.output.diff_view import Line, diff_view, find_marks, parse_diff
from halocline.surfaces.cli.output.theme import Gutter, wrapped
from halocline.surfaces.cli.output.word_marks import Spans
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.tui.drawing import draw_strips, draw_text
from halocline.surfaces.tui.row_cards import group_cards

SIDE_BY_SIDE = 119
"""Columns from which a hunk is shown side by side: a screen of 120, without the mark of the selected hunk."""
SHORT = 80
"""Most lines of a hunk that is not expanded."""
_CUT = re.compile(r"^(?=@@ -\d)", re.MULTILINE)
_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_STYLES = {"-": "bad", "+": "good"}


class Hunk(Value, frozen=True):
    """One change of a file: `diff` is its hunk below the head of the file's diff. `kind`: what happened to it."""

    path: str
    kind: str
    diff: str
    number: int

    @property
    def key(self) -> str:
        return f"{self.path} {self.number}"


def list_hunks(file: FileDifference) -> list[Hunk]:
    """Return the hunks of a file; none of one that is not text."""
    head, *hunks = _CUT.split(file.diff)
    return [Hunk(file.path, file.kind, head + text, number) for number, text in enumerate(hunks)]


class HunkBlock:
    """One hunk; `is_back`: it was taken back."""

    is_selectable = True

    def __init__(self, hunk: Hunk) -> None:
        self.hunk = hunk
        self.key = hunk.key
        self.is_back = False
        self.is_expanded = False
        self._drawn: tuple[object, Sequence[Strip]] = (None, ())

    def draw_lines(self, width: int) -> Sequence[Strip]:
        now = (width, self.is_back, self.is_expanded)
        if self._drawn[0] != now:
            self._drawn = now, self._draw(width)
        return self._drawn[1]

    def _draw(self, width: int) -> list[Strip]:
        lines = list(parse_diff(self.hunk.diff))
        shown = lines if self.is_expanded else lines[:SHORT]
        more = [draw_text(f"… {len(lines) - len(shown):,} more lines: Enter shows them", "quiet")]
        back = [draw_text("taken back · u puts it in again", "warn")] if self.is_back else []
        body = _draw_pairs(self.hunk.diff, shown, width) if width >= SIDE_BY_SIDE else self._draw_column(width)
        return [*back, *body, *(more if len(shown) < len(lines) else []), Strip.blank(0)]

    def _draw_column(self, width: int) -> list[Strip]:
        limit = 1 << 30 if self.is_expanded else SHORT
        rows = diff_view((Diff(self.hunk.path, self.hunk.diff),), limit, whole_lines=True)
        return draw_strips(group_cards(rows[:limit]), width) if rows else []


Side = tuple[int, Line, Spans] | None
"""The line of one side: its number, the line, and the words that changed."""


def _draw_pairs(diff: str, lines: Sequence[Line], width: int) -> list[Strip]:
    """Draw removed lines left of the added ones that replace them."""
    column = (width - 3) // 2
    pairs = list(_pair_lines(diff, lines))
    digits = max((len(str(side[0])) for pair in pairs for side in pair if side), default=1)
    drawn: list[Strip] = []
    for left, right in pairs:
        cells = zip_longest(_draw_side(left, column, digits), _draw_side(right, column, digits))
        for one, other in cells:
            begin = (one or Strip.blank(0)).crop_extend(0, column, None)
            drawn.append(Strip.join([begin, draw_text(" │ ", "quiet"), other or Strip.blank(0)]))
    return drawn


def _pair_lines(diff: str, lines: Sequence[Line]) -> Iterator[tuple[Side, Side]]:
    head = _HEAD.search(diff)
    old, new = (int(head[1]), int(head[2])) if head else (1, 1)
    marks, removed, at = find_marks(lines), list[Side](), 0
    for sign, run in groupby(lines, key=lambda line: line.sign):
        entries = list(run)
        spans = [marks.get(at + place, ()) for place in range(len(entries))]
        at += len(entries)
        if sign == "-":
            removed = [(old + place, entry, spans[place]) for place, entry in enumerate(entries)]
            old += len(entries)
            continue
        if sign == "+":
            added: list[Side] = [(new + place, entry, spans[place]) for place, entry in enumerate(entries)]
            new += len(entries)
            yield from zip_longest(removed, added)
            removed = []
            continue
        yield from ((side, None) for side in removed)
        removed = []
        for entry in entries:
            yield (old, entry, ()), (new, entry, ())
            old, new = old + (entry.number is not None), new + (entry.number is not None)
    yield from ((side, None) for side in removed)


def _draw_side(side: Side, width: int, digits: int) -> list[Strip]:
    if side is None:
        return []
    number, entry, spans = side
    style = _STYLES.get(entry.sign, "")
    body = wrapped(reveal(entry.text), style)
    for begin, end in spans:
        body.stylize("bold underline", begin, end)
    shown = str(number) if entry.number is not None else ""
    first = Text.assemble((f"{shown:>{digits}} ", "quiet"), (f"{entry.sign} ", style), end="")
    return draw_strips(Gutter(body, first, Text(" " * (digits + 3), end="")), width)
