"""A unified diff as colored lines with line numbers."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, takewhile

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from halocline.client.diffs import Spans, mark_changes
from halocline.protocol.kinds import Diff, Remark
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean, reveal
from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.drawing.side_by_side import Columns, pair_lines
from halocline.surfaces.terminal.drawing.theme import Band, Gutter, line, wrapped

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_STYLES = {"+": "good", "-": "bad"}
_BANDS = {"+": "added", "-": "removed"}
MOST_COLORED = 100_000
"""Most characters of a diff that are colored as code."""


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
        code = CodeColors(diff.path, lines[:room])
        shown += _draw_lines(lines[:room], diff.remarks, _number_width(lines), whole_lines, code)
        hidden += len(lines[room:])
    if hidden:
        shown.append(line(f"… {format_plural(hidden, 'more line')}", "quiet"))
    return shown


def _draw_lines(
    lines: Sequence[Line], remarks: Sequence[Remark], width: int, whole_lines: bool, code: "CodeColors"
) -> list[RenderableType]:
    """Draw lines with their remarks; without any, old beside new where there is room for both."""
    below, marks = {remark.line: remark for remark in remarks}, find_marks(lines)
    rows: list[RenderableType] = []
    for at, entry in enumerate(lines):
        rows.append(_draw_row(entry, width, whole_lines, marks.get(at, ()), partial(code.find, at)))
        if entry.sign != "-" and entry.number in below:
            rows.append(_draw_remark(below[entry.number], width))
    if remarks or not {"+", "-"} <= {entry.sign for entry in lines}:
        return rows

    def draw(at: int, is_old: bool) -> RenderableType:
        entry = lines[at]
        if is_old and entry.old:
            entry = replace(entry, number=entry.old)
        return _draw_row(entry, width, whole_lines, marks.get(at, ()), partial(code.find, at))

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


def _draw_row(
    entry: Line, width: int, whole_lines: bool, marks: Spans, color: Callable[[Console], Text | None]
) -> RenderableType:
    if entry.number is None:
        return line(f"{'':>{width}} {entry.text}", "quiet")
    style = _STYLES.get(entry.sign, "")
    text = reveal(entry.text)
    first = Text.assemble((f"{entry.number:>{width}} ", "quiet"), (f"{entry.sign} ", style), end="")
    body = wrapped(text, style) if whole_lines else line(text, style)
    for begin, end in marks:
        body.stylize("bold underline", begin, end)
    rest = Text(" " * (width + 3), end="")
    return DiffRow(Gutter(body, first, rest), _BANDS.get(entry.sign, ""), marks, color)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a diff: in one color; where the terminal's background is known, as code on a band of its sign."""

    body: Gutter
    band: str
    marks: Spans
    color: Callable[[Console], Text | None]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = self.color(console) if console.get_style("band").bgcolor else None
        if code is None or not isinstance(self.body.body, Text):
            yield self.body
            return
        code = code.copy()
        code.no_wrap, code.overflow = self.body.body.no_wrap, self.body.body.overflow
        for begin, end in self.marks:
            code.stylize(f"{self.band}.word", begin, end)
        if not self.band:
            yield replace(self.body, body=code)
        else:
            yield Band(Gutter(code, Text(self.body.first.plain, end=""), self.body.rest), self.band)


class CodeColors:
    """The lines of a diff as code in colors, each side read as one text; found when the first of them is drawn."""

    def __init__(self, path: str, lines: Sequence[Line]) -> None:
        self._path = path
        self._lines = lines
        self._drawn: dict[int, Text] | None = None

    def find(self, at: int, console: Console) -> Text | None:
        """The line at a place; None where it is no code."""
        if self._drawn is None:
            self._drawn = {**self._color_side("-", console), **self._color_side("+", console)}
        return self._drawn.get(at)

    def _color_side(self, sign: str, console: Console) -> dict[int, Text]:
        places = [at for at, entry in enumerate(self._lines) if entry.sign in (sign, " ") and entry.number]
        texts = [reveal(self._lines[at].text).expandtabs(4) for at in places]
        if not any(self._lines[at].sign == sign for at in places) or sum(map(len, texts)) > MOST_COLORED:
            return {}
        colored = drawing.markdown.color_code("\n".join(texts), "", console, path=self._path).split(
            "\n", allow_blank=True
        )
        return dict(zip(places, colored, strict=False))


def _draw_remark(remark: Remark, width: int) -> RenderableType:
    margin = Text(" " * (width + 3), end="")
    return Gutter(
        wrapped(clean(remark.text), "accent"),
        Text.assemble(margin, ("└ ", "accent"), end=""),
        Text(" " * (width + 5), end=""),
    )
