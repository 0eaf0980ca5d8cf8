"""The hunks of a file's diff, old beside new where there is room, with the changed words marked."""

import re
from collections.abc import Sequence

from textual.strip import Strip

from halocline.client import FileDifference
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value
from halocline.surfaces.cli.output.call_cards import WHOLE
from halocline.surfaces.cli.output.diff_view import diff_view
from halocline.surfaces.cli.output.theme import Wide
from halocline.surfaces.tui.drawing import Pen
from halocline.surfaces.tui.row_cards import group_cards

SHORT = 80
"""Most lines of a hunk that is not expanded."""
_CUT = re.compile(r"^(?=@@ -\d)", re.MULTILINE)


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

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        now = (width, pen, self.is_back, self.is_expanded)
        if self._drawn[0] != now:
            self._drawn = now, self._draw(width, pen)
        return self._drawn[1]

    def _draw(self, width: int, pen: Pen) -> list[Strip]:
        limit = WHOLE if self.is_expanded else SHORT
        rows = diff_view((Diff(self.hunk.path, self.hunk.diff),), limit, whole_lines=True)
        back = [pen.draw_text("taken back · u puts it in again", "warn")] if self.is_back else []
        return [*back, *pen.draw_strips(Wide(group_cards(rows)), width), Strip.blank(0)]
