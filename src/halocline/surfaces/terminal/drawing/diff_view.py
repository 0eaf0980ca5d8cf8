"""A unified diff as colored lines with line numbers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile

from rich.console import RenderableType
from rich.text import Text

from halocline.client.diffs import Spans, mark_changes
from halocline.protocol.kinds import Diff, Remark
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean, reveal
from halocline.surfaces.terminal.drawing.side_by_side import Columns, pair_lines
from halocline.surfaces.terminal.drawing.theme import Gutter, line, wrapped

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_STYLES = {"+": "good", "-": "bad"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff. `sign` is `+`, `-` or a space; a line without a number is a remark.

    `old` is the number of an unchanged line in the old text.
    """

    sign: str
    number: int | None
    text: str
    old: int | None = field(default=None, compare=False)


def draw_stat(diffs: Iterable[Diff]) -> Text:
    """`+3 −1`, colored."""
    diffs = tuple(diffs)
    added, removed = sum(diff.added for diff in diffs), sum(diff.removed for diff in diffs)
    return Text.assemble((f"+{added}", "good"), " ", (f"−{removed}", "bad"))


def parse_diff(text: str) -> Iterator[Line]:
    """Parse the lines of all hunks, without file headers and with a remark between hunks."""
    old = new = 0
    for raw in text.removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(raw):
            if old:
                yield Line(" ", None, "⋯")
            old, new = int(hunk[1]) or 1, int(hunk[2]) or 1
        elif not old:
            continue
        elif raw.startswith("-"):
            yield Line("-", old, raw[1:])
            old += 1
        elif raw.startswith("\\"):
            yield Line(" ", None, raw[2:].lower())
        else:
            yield Line(raw[:1] or " ", new, raw[1:], None if raw[:1] == "+" else old)
            old, new = old + (raw[:1] != "+"), new + 1


def diff_view(diffs: tuple[Diff, ...], limit: int, *, whole_lines: bool = False) -> list[RenderableType]:
    """Draw at most `limit` lines, then the count of the rest. `whole_lines` wraps long lines instead of cutting."""
    shown: list[RenderableType] = []
    hidden = 0
    for diff in diffs:
        lines = list(parse_diff(diff.text))
        room = max(0, limit - len(shown))
        if len(diffs) > 1 and room:
            shown.append(Text.assemble(reveal(diff.path), "  ", draw_stat((diff,)), style="title"))
        shown += _draw_lines(lines[:room], diff.remarks, _number_width(lines), whole_lines)
        hidden += len(lines[room:])
    if hidden:
        shown.append(line(f"… {format_plural(hidden, 'more line')}", "quiet"))
    return shown


def _draw_lines(
    lines: Sequence[Line], remarks: Sequence[Remark], width: int, whole_lines: bool
) -> list[RenderableType]:
    """Draw lines with their remarks; without any, old beside new where there is room for both."""
    below, marks = {remark.line: remark for remark in remarks}, find_marks(lines)
    rows: list[RenderableType] = []
    for at, entry in enumerate(lines):
        rows.append(_draw_row(entry, width, whole_lines, marks.get(at, ())))
        if entry.sign != "-" and entry.number in below:
            rows.append(_draw_remark(below[entry.number], width))
    if remarks or not {"+", "-"} <= {entry.sign for entry in lines}:
        return rows

    def draw(at: int, is_old: bool) -> RenderableType:
        entry = lines[at]
        if is_old and entry.old:
            entry = replace(entry, number=entry.old)
        return _draw_row(entry, width, whole_lines, marks.get(at, ()))

    return [Columns(rows, pair_lines([entry.sign for entry in lines]), draw)]


def _number_width(lines: list[Line]) -> int:
    return max((len(str(entry.number)) for entry in lines if entry.number), default=1)


def find_marks(lines: Sequence[Line]) -> dict[int, Spans]:
    """The changed words by the place of their line, where as many lines were added as were removed before them."""
    marks: dict[int, Spans] = {}
    at = 0
    for sign, run in groupby(lines, key=lambda line: line.sign):
        count = len(list(run))
        added = list(takewhile(lambda line: line.sign == "+", lines[at + count :]))
        if sign == "-" and len(added) == count:
            for place in range(at, at + count):
                old, new = reveal(lines[place].text), reveal(lines[place + count].text)
                marks[place], marks[place + count] = mark_changes(old.expandtabs(4), new.expandtabs(4))
        at += count
    return marks


def _draw_row(entry: Line, width: int, whole_lines: bool, marks: Spans = ()) -> RenderableType:
    if entry.number is None:
        return line(f"{'':>{width}} {entry.text}", "quiet")
    style = _STYLES.get(entry.sign, "")
    text = reveal(entry.text)
    first = Text.assemble((f"{entry.number:>{width}} ", "quiet"), (f"{entry.sign} ", style), end="")
    body = wrapped(text, style) if whole_lines else line(text, style)
    for begin, end in marks:
        body.stylize("bold underline", begin, end)
    return Gutter(body, first, Text(" " * (width + 3), end=""))


def _draw_remark(remark: Remark, width: int) -> RenderableType:
    margin = Text(" " * (width + 3), end="")
    return Gutter(
        wrapped(clean(remark.text), "accent"),
        Text.assemble(margin, ("└ ", "accent"), end=""),
        Text(" " * (width + 5), end=""),
    )
