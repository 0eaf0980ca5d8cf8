"""Draws the live screen at the bottom, and prints finished rows above it in the same write.

The position of the screen is never asked of the terminal, so nothing waits for its answer: all moves are relative. Each
frame is one write, marked as one update for terminals that know the mark.
"""

import os
import re
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import BaseStyle

_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h", "\x1b[?2026l"
HELD = 0.1
"""Seconds after rows were printed in which a frame prints no others: printing draws the whole screen again."""
QUIET = 0.3
"""Seconds without another new size after which the screen is drawn again: tmux tells of one up to 0.25 s late."""
PROMPT = 0.05
"""Seconds in which a terminal has drawn what it was sent, beside those that its answers take."""
_RULE = re.compile("─{8,}")
_REPEATING = ("XTERM_VERSION", "VTE_VERSION", "KITTY_WINDOW_ID")
"""Variables of terminals known to repeat any character, so that a rule takes few bytes of each frame."""
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[K", "\x1b[J"


class LiveOutput(Vt100_Output):
    """Collects what is written until the end of a frame."""

    _held = False

    @contextmanager
    def one_write(self) -> Iterator[None]:
        """Write everything of the body at once."""
        if self._held:
            yield
            return
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self.flush()

    def flush(self) -> None:
        if self._held:
            return
        if repeats_characters():
            self._buffer[:] = [_RULE.sub(_repeat_rule, "".join(self._buffer))]
        super().flush()


def repeats_characters() -> bool:
    """True for terminals known to repeat any character (REP); tmux repeats only some."""
    return "TMUX" not in os.environ and any(name in os.environ for name in _REPEATING)


def _repeat_rule(rule: re.Match[str]) -> str:
    return f"─\x1b[{len(rule[0]) - 1}b"


class LiveRenderer(Renderer):
    """Keeps the screen as high as its layout."""

    def __init__(self, style: BaseStyle, output: LiveOutput) -> None:
        super().__init__(style, output)
        self._live_output = output
        self._rows: list[str] = []
        self._unfinished = ""
        self._drawn_style: Hashable = None
        self._printed_at = 0.0
        self._cells: list[int] = []
        """The cells that each row of the screen above the cursor takes."""
        self._cells_at = self._asked_at = 0.0
        """When those were drawn, and when the terminal was asked where the cursor is."""
        self._sure_for = 0.0
        """Seconds between that drawing and the news of another size."""
        self.is_holding = False
        """True while a frame is drawn that leaves the rows that wait to the next one; what they were stays drawn."""
        self._knows_width = True
        self._lost: list[int] = []
        """The cells of our rows above the window, which was too low for them: a higher one may show them again."""
        self._further = 0
        self.on_place: Callable[[], None] = lambda: None
        """Called when the terminal has told where the cursor is."""
        self.on_resize: Callable[[], None] = lambda: None
        """Called when a frame finds another size than the one before."""
        self._place: int | None = None
        self.is_resizing = False
        """True while the size changes: nothing is drawn then."""

    def begin_resize(self) -> None:
        """The terminal has another size. What was sent just before may have been drawn at either."""
        if not self.is_resizing:
            self.is_resizing = True
            self._sure_for = time.monotonic() - self._cells_at
            self._knows_width = self._sure_for > QUIET

    def ask_place(self) -> None:
        """Ask the terminal where the cursor is: rows above the window cannot be erased before it shows them again."""
        self._place, self._asked_at = None, time.monotonic()
        self.output.ask_for_cpr()
        self.output.flush()

    def report_absolute_cursor_row(self, row: int) -> None:
        took, self._place = time.monotonic() - self._asked_at, row - 1
        self._knows_width = self._knows_width or self._sure_for > PROMPT + took
        self.on_place()

    def erase_resized(self) -> None:
        """Remove the screen after the size changed, with those of its rows that were above the window before."""
        width, above, lost = self.output.get_size().columns, self._rows_above_cursor(), self._lost
        if self._knows_width and _wraps_on_resize():
            own = [*lost, *self._cells]
            heights = [-(-cells // width) for cells in own]
            self._further = sum(heights[: len(lost)])
            missing = above + self._further - self._place if self._place is not None else 0
            lost = [cells for at, cells in enumerate(own) if sum(heights[: at + 1]) <= missing]
        elif self._place != above:  # it does not begin at the top of the window
            lost = []
        self.erase(leave_alternate_screen=False)
        self._lost, self._further, self._knows_width = lost, 0, True

    def print_above(self, text: str) -> None:
        """Queue text for the next frame; a line is printed once it is complete."""
        lines, end, rest = (self._unfinished + text).rpartition("\n")
        self._unfinished = rest
        if end:
            self._rows.append(lines + end)

    def stop_holding(self) -> None:
        """Let the next frame print the rows that wait, however soon after others."""
        self._printed_at = 0.0

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        if not is_done and self._last_screen is not None and self._last_size != self.output.get_size():
            self.on_resize()
        if self.is_resizing and not is_done:
            return
        self.is_holding = bool(self._rows) and not is_done and time.monotonic() - self._printed_at < HELD
        if self.is_holding and app.loop:  # perhaps nothing else asks for another frame
            app.loop.call_later(HELD, app.invalidate)
        with self._live_output.one_write():
            if self._rows and not self.is_holding:
                self._print_rows()
                self._printed_at = time.monotonic()
            elif self._last_screen is not None and not is_done and self._needs_clearing(layout, self._last_screen):
                self._clear()
            self._drawn_style = self.style.invalidation_hash()
            super().render(app, layout, is_done)
            self._note_cells()
            if self._last_screen is not None:
                self._end_update()

    def erase(self, leave_alternate_screen: bool = True) -> None:
        """Remove the screen, and print the rows that wait."""
        self._lost = []
        with self._live_output.one_write():
            self._clear()
            if self._rows:
                self._print_rows()
            self.output.reset_attributes()
            self.output.enable_autowrap()
            self._end_update()
            self.reset(leave_alternate_screen=leave_alternate_screen)

    def _end_update(self) -> None:
        if self._is_updating:
            self.output.write_raw(_END_UPDATE)
            self._is_updating = False

    _is_updating = False

    def _needs_clearing(self, layout: Layout, last: Screen) -> bool:
        """True if everything will be drawn again: with other styles, or in fewer rows."""
        return self._drawn_style != self.style.invalidation_hash() or self._is_lower(layout, last)

    def _is_lower(self, layout: Layout, last: Screen) -> bool:
        """True if the layout needs fewer rows than were drawn."""
        size = self.output.get_size()
        return layout.container.preferred_height(size.columns, size.rows).preferred < min(last.height, size.rows)

    def _print_rows(self) -> None:
        """Print over the screen; the rest of it is erased below the first line, so that no terminal saves a copy."""
        text, self._rows, self._lost = "".join(self._rows), [], []
        first, _, others = text.partition("\n")
        self._return_to_top()
        self.output.write_raw(f"{first}{_CLEAR_LINE}\n{_CLEAR_BELOW}{others}")

    def _clear(self) -> None:
        """Erase the screen and go to its top. The first row is erased by itself: tmux keeps a screen erased whole."""
        if self._last_screen is None:
            return
        height = self._last_screen.height
        self._return_to_top()
        below = f"\x1b[B{_CLEAR_BELOW}\x1b[A" if height > 1 else ""
        self.output.write_raw(_CLEAR_LINE + below)

    def _return_to_top(self) -> None:
        """Move to where the screen begins, and forget what was drawn."""
        if not self._is_updating:
            self.output.write_raw(_BEGIN_UPDATE)
            self._is_updating = True
        self.output.reset_attributes()
        self.output.write_raw("\r")
        self.output.cursor_up(self._rows_above_cursor() + self._further)
        self._cursor_pos = Point(x=0, y=0)
        self._last_screen = self._last_style = None
        self._cells = []

    def _rows_above_cursor(self) -> int:
        """Rows between the top and the cursor that are the screen's own.

        After the window became narrower, most terminals wrap long rows. They count only if it is known at what width
        they were drawn: a row too few leaves a copy of a rule behind, a row too many would erase what was printed.
        """
        width, last = self.output.get_size().columns, self._last_screen
        was = self._last_size.columns if self._last_size else width
        if last is None or width >= was or not (self._knows_width and _wraps_on_resize()):
            return self._cursor_pos.y
        return sum(-(-cells // width) for cells in self._cells) + self._cursor_pos.x // width

    def _note_cells(self) -> None:
        """Take note of the rows drawn. A frame that changes no row's length ends where it began, at any width."""
        last = self._last_screen
        rows = [last.data_buffer[y] for y in range(self._cursor_pos.y)] if last else []
        cells = [max((x for x, cell in row.items() if cell.char != " "), default=0) + 1 for row in rows]
        if cells != self._cells:
            self._cells, self._cells_at = cells, time.monotonic()


def _wraps_on_resize() -> bool:
    """True for terminals that wrap existing rows again; xterm alone cuts them."""
    return "XTERM_VERSION" not in os.environ or "TMUX" in os.environ
