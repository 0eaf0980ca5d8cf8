"""A unified diff as colored lines with line numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from halocline.protocol.kinds import Diff, Remark
from halocline.surfaces.cli.output.theme import Gutter, line, wrapped
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean, reveal

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_STYLES = {"+": "good", "-": "bad"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff. `sign` is `+`, `-` or a space; a line without a number is a remark."""

    sign: str
    number: int | None
    text: str


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
            yield Line(raw[:1] or " ", new, raw[1:])
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
        width, remarks = _number_width(lines), {remark.line: remark for remark in diff.remarks}
        for entry in lines[:room]:
            shown.append(_draw_row(entry, width, whole_lines))
            if entry.sign != "-" and entry.number in remarks:
                shown.append(_draw_remark(remarks[entry.number], width))
        hidden += len(lines[room:])
    if hidden:
        shown.append(line(f"… {format_plural(hidden, 'more line')}", "quiet"))
    return shown


def _number_width(lines: list[Line]) -> int:
    return max((len(str(entry.number)) for entry in lines if entry.number), default=1)


def _draw_row(entry: Line, width: int, whole_lines: bool) -> RenderableType:
    if entry.number is None:
        return line(f"{'':>{width}} {entry.text}", "quiet")
    style = _STYLES.get(entry.sign, "")
    text = reveal(entry.text)
    first = Text.assemble((f"{entry.number:>{width}} ", "quiet"), (f"{entry.sign} ", style), end="")
    return Gutter(wrapped(text, style) if whole_lines else line(text, style), first, Text(" " * (width + 3), end=""))


def _draw_remark(remark: Remark, width: int) -> RenderableType:
    margin = Text(" " * (width + 3), end="")
    return Gutter(
        wrapped(clean(remark.text), "accent"),
        Text.assemble(margin, ("└ ", "accent"), end=""),
        Text(" " * (width + 5), end=""),
    )
