"""Rows that were printed shortened, to print them in full when the person asks."""

from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.terminal.drawing.call_cards import DIFF_LINES, OUTPUT_LINES

MOST_KEPT = 20


class ShortenedRows:
    """The latest shortened rows of a turn."""

    def __init__(self) -> None:
        self._rows: list[r.Row] = []
        self.has_shown = False
        """True if rows of this turn were printed in full since."""

    def note(self, row: r.Row, *, is_folded: bool = False) -> None:
        """Keep a row that was printed without a part, or folded into another. A prompt begins a new list."""
        if isinstance(row, r.PromptRow) and not row.steering:
            self._rows, self.has_shown = [], False
        if is_folded or is_shortened(row):
            self._rows = [*self._rows, row][-MOST_KEPT:]

    def take(self) -> list[r.Row]:
        """Return the rows that were not shown in full yet."""
        rows, self._rows = self._rows, []
        self.has_shown = self.has_shown or bool(rows)
        return rows


def is_shortened(row: r.Row) -> bool:
    """True if the card of a row leaves out a part."""
    match row:
        case r.ThoughtRow():
            return "\n" in row.text.strip()
        case r.CallRow() if row.status is not CallStatus.COMPLETED and not row.own:
            return row.output.strip() not in ("", row.for_person)
        case r.CallRow() if row.kind is ToolKind.EXECUTE or row.foreign:
            return row.output.rstrip().count("\n") > OUTPUT_LINES
        case r.CallRow() if row.diffs:
            return sum(diff.text.count("\n") for diff in row.diffs) > DIFF_LINES
        case r.CallRow():
            return bool(row.output.strip())
    return False
