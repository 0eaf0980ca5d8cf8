"""The rows of a task as blocks of lines. A row that did not change keeps its lines; a growing reply draws only its end.

Notes are what Halocline itself says here, such as the answer to a key; they are not part of the transcript.
"""

from collections.abc import Sequence

from rich.text import Text
from textual.strip import Strip

from halocline.protocol.kinds import Diff
from halocline.surfaces.cli.live.activity import wrap_tail
from halocline.surfaces.cli.output.call_cards import WHOLE, indent_cards
from halocline.surfaces.cli.output.cards import message_card
from halocline.surfaces.cli.output.diff_view import diff_view
from halocline.surfaces.cli.output.markdown_blocks import Blocks
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.transcript import Transcript
from halocline.surfaces.tui import row_cards
from halocline.surfaces.tui.drawing import Pen

MOST_ROWS = 200
"""Rows that are drawn at first; earlier ones on request, this many at a time."""
TAIL_LINES = 400
"""Most lines of an unfinished block, such as a long table."""


class RowBlock:
    """One row. `is_apart`: after a blank line."""

    def __init__(self, row: r.Row, key: str, *, is_expanded: bool, is_apart: bool) -> None:
        self.row = row
        self.key = key
        self.is_expanded = is_expanded
        self.is_apart = is_apart
        self.is_selectable = not row_cards.is_redundant(row)
        self._drawn: tuple[int, Pen | None] = (0, None)
        self._strips: Sequence[Strip] = ()

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        if (width, pen) != self._drawn:
            self._drawn = (width, pen)
            bodies = row_cards.draw_row(self.row, is_expanded=self.is_expanded)
            self._strips = pen.draw_strips(row_cards.group_cards(bodies), width, apart=self.is_apart) if bodies else ()
        return self._strips


class DraftBlock:
    """A reply that is being written: finished blocks stay as they are, the last one is plain text until it ends."""

    is_selectable = True
    key = "draft"

    def __init__(self) -> None:
        self.row = r.ReplyRow("", draft=True)
        self._blocks = Blocks()
        self._finished: list[str] = []
        self._strips: list[Strip] = []
        self._drawn = 0
        self._drawn_as: tuple[int, Pen | None] = (0, None)
        self._shown: tuple[int, str] = (0, "")
        self._lines: Sequence[Strip] = ()

    def takes(self, row: r.Row) -> bool:
        """True if a row continues this one."""
        return isinstance(row, r.ReplyRow) and row.draft and row.text.startswith(self.row.text)

    def grow(self, row: r.ReplyRow) -> None:
        self._finished += self._blocks.feed(row.text[len(self.row.text) :])
        self.row = row

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        if (width, pen) != self._drawn_as:
            self._drawn_as, self._strips, self._drawn, self._shown = (width, pen), [], 0, (-1, "")
        for block in self._finished[self._drawn :]:
            self._strips += pen.draw_strips(row_cards.draw_block(block), width, apart=True)
        self._drawn = len(self._finished)
        tail = self._blocks.unfinished(TAIL_LINES)
        if self._shown != (self._drawn, tail):
            self._shown = (self._drawn, tail)
            end = wrap_tail(tail, width - 3, TAIL_LINES * 4) if tail.strip() else ()
            blank = [Strip.blank(0)] if end else []
            self._lines = [*self._strips, *blank, *(pen.draw_text(f"  {text}") for text in end)]
        return self._lines


class NoteBlock:
    """An answer of Halocline, and diffs below it; with `is_markdown`, a reply of a model."""

    is_selectable = True

    def __init__(self, key: str, text: str, diffs: tuple[Diff, ...] = (), *, is_markdown: bool = False) -> None:
        self.key = key
        self.row = r.NoticeRow(text)
        self._diffs = diffs
        self._is_markdown = is_markdown

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        said = row_cards.draw_markdown(self.row.text) if self._is_markdown else [message_card(self.row.text)]
        bodies = [*said, *indent_cards(diff_view(self._diffs, WHOLE))]
        return pen.draw_strips(row_cards.group_cards(bodies), width, apart=True)


class EarlierBlock:
    """Stands for the rows before those that are drawn."""

    is_selectable = True
    key = "earlier"
    row = r.NoticeRow("")

    def __init__(self, count: int) -> None:
        self.count = count

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        return pen.draw_strips(Text(f"  … {self.count:,} earlier rows: Enter shows more", style="dim"), width)


AnyBlock = RowBlock | DraftBlock | NoteBlock | EarlierBlock


class RowBlocks:
    """Keeps the blocks of a transcript from one state of it to the next."""

    def __init__(self) -> None:
        self._known: dict[int, RowBlock] = {}
        self._draft: DraftBlock | None = None
        self._expanded: set[str] = set()
        self._notes: list[tuple[int, NoteBlock]] = []
        self._count = 0
        self._most = MOST_ROWS
        self.asked: r.CallRow | None = None

    def build(self, transcript: Transcript) -> list[AnyBlock]:
        """Return the blocks of the rows, with notes where they were made."""
        rows = transcript.visible()
        self._count = len(transcript.rows)
        first = max(0, len(rows) - self._most)
        blocks: list[AnyBlock] = [EarlierBlock(first)] if first else []
        known, notes = self._known, dict[int, list[NoteBlock]]()
        self._known = {}
        for place, note in self._notes:
            notes.setdefault(min(place, len(rows)), []).append(note)
        for at in range(first, len(rows)):
            blocks += [*notes.get(at, ()), self._find_block(rows, at, known)]
        return [*blocks, *notes.get(len(rows), ()), *self._list_asked(transcript)]

    def _list_asked(self, transcript: Transcript) -> list[RowBlock]:
        """The call that is asked about, if no row of the transcript has it: one of a sub-agent."""
        row = self.asked
        if row is None or transcript.call(row.call):
            return []
        key = name_row(row, 0)
        return [RowBlock(row, key, is_expanded=key in self._expanded, is_apart=True)]

    def toggle(self, block: AnyBlock) -> None:
        """Show a row whole, or shortened again; more of the earlier rows."""
        if isinstance(block, EarlierBlock):
            self._most += MOST_ROWS
        else:
            self._expanded ^= {block.key}

    def expand(self, key: str) -> None:
        self._expanded |= {key}

    def show_all(self) -> None:
        """Draw all rows, so that a search finds them."""
        self._most = 1 << 30

    def add_note(self, text: str, diffs: tuple[Diff, ...] = (), *, is_markdown: bool = False) -> None:
        note = NoteBlock(f"note {len(self._notes)}", text, diffs, is_markdown=is_markdown)
        self._notes.append((self._count, note))

    def _find_block(self, rows: Sequence[r.Row], at: int, known: dict[int, RowBlock]) -> AnyBlock:
        row = rows[at]
        if isinstance(row, r.ReplyRow) and row.draft:
            if self._draft is None or not self._draft.takes(row):
                self._draft = DraftBlock()
            self._draft.grow(row)
            return self._draft
        key = name_row(row, at)
        is_expanded = key in self._expanded
        block = known.get(at)
        if block is None or block.row is not row or block.is_expanded != is_expanded:
            is_apart = at > 0 and not row_cards.is_close(row, rows[at - 1])
            block = RowBlock(row, key, is_expanded=is_expanded, is_apart=is_apart)
        self._known[at] = block
        return block


def name_row(row: r.Row, at: int) -> str:
    """The key of a row's block; that of a call stays the same wherever it moves."""
    return f"call {row.call}" if isinstance(row, r.CallRow) else f"row {at}"


def has_words(block: object, words: str) -> bool:
    """True if the row of a block has these words (small letters), shown or not."""
    return words in row_cards.read_words(block.row) if isinstance(block, AnyBlock) else False
