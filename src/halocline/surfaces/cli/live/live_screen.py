"""The rows of the live screen: as in line mode, and code line by line while it is written."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec.structs import replace
from rich.style import Style

from halocline.protocol import events as ev
from halocline.surfaces.figures import describe_effect
from halocline.surfaces.rows.fold import fold_event
from halocline.surfaces.rows.kinds import CallRow
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.application.layout import translate_style
from halocline.surfaces.terminal.drawing import cards
from halocline.surfaces.terminal.drawing.screen import Screen
from halocline.surfaces.terminal.drawing.theme import WIDEST, Safe, line
from halocline.surfaces.wrapping import Fragments, wrap_line

LONGEST_TAIL = 4_000
"""Most characters of an unfinished block that are drawn."""
IN_FULL, NOT_SHORTENED = "All stands in full above.", "Nothing was shortened since your latest prompt."
BEGINNING = "The beginning of the task, up to what was printed before:"


class LiveScreen(Screen):
    """Prints rows above the live screen."""

    older_hint = "Ctrl-O"
    is_holding: Callable[[], bool] = staticmethod(lambda: False)
    """True while the rows of what was unfinished wait: it stays drawn."""
    _held: Sequence[Fragments] = ()
    _unfinished: tuple[tuple[str, int], list[Fragments]] = ("", 0), []

    def show_question(self, event: ev.QuestionAsked, *, again: bool = False) -> None:
        """Print the question; its options are listed where they can be chosen."""
        super().show_question(replace(event, options=()), again=again)

    def title_for(self, row: CallRow) -> str:
        """The title to ask with, and what it would do below it; empty where the card is in sight."""
        title, effect = super().title_for(row), describe_effect(row.approval) if row.approval else ""
        return title and "\n".join(filter(None, (" ".join(title.split()), effect)))

    def draw_unfinished(self, width: int, rows: int) -> Sequence[Fragments]:
        """The end of the block that is being written, as it will stand below the others once it is finished.

        What outgrows its rows moves up by half of them at a time; moving by one would draw all for each line.
        """
        if self.is_holding():
            return self._held
        self._held = self._draw_end(width, rows)
        return self._held

    def _draw_end(self, width: int, rows: int) -> Sequence[Fragments]:
        text, is_code = self._stream.blocks.unfinished(rows * 4)
        if not text.strip():
            return ()
        if (key := (text, width)) != self._unfinished[0]:
            self._unfinished = key, self._draw_block(text[-LONGEST_TAIL:], width, is_code=is_code)
        drawn, step = self._unfinished[1], max(1, rows // 2)
        above: list[Fragments] = [] if self._stream.blocks.continues_code else [[("", "")]]
        return [*above, *drawn[-(-max(0, len(drawn) - rows) // step) * step :]]

    def _draw_block(self, text: str, width: int, *, is_code: bool) -> list[Fragments]:
        if is_code:
            return _wrap_code(text, width)
        console, drawn = self._out.console, list[Fragments]()
        for piece in drawing.markdown.split_codes(text, console, min(width, WIDEST)):
            if isinstance(piece, drawing.markdown.Code):
                drawn += _wrap_code(piece.text, width)
            else:
                rows = console.render_lines(Safe(piece), console.options.update(width=width), pad=False)
                drawn += [[(_translate(part.style), part.text) for part in row] for row in rows]
        return drawn

    def print_code(self) -> None:
        """Print the lines of code that are complete, before their block is."""
        if taken := self._stream.blocks.take_code():
            self._print_looks()
            self._replies.print_code(taken[0], is_first=taken[1])

    def absorb(self, event: ev.Event) -> None:
        """Take in an event without printing its row."""
        is_settled = self._printed == len(self._transcript.rows)
        self._transcript = fold_event(self._transcript, event)
        if is_settled:
            self._printed = len(self._transcript.rows)
        else:
            self._ahead.append(self._transcript.rows[-1])

    def echo(self, text: str) -> None:
        """Print a slash command as it was typed."""
        self._print(cards.command_card(text))

    def expand(self) -> str:
        """Print in full the rows that were shortened since the latest prompt. Returns why there are none.

        Before the first prompt of a task that was resumed, print the rows of its past that were not.
        """
        if self._older:
            self._print(line(BEGINNING, "quiet"))
            older, self._older = self._older, ()
            self._reprint(older)
            return ""
        rows, details = self._shortened.take(), self._details
        self._details = True
        for row in rows:
            self._print_row(row)
        self._details = details
        self._shortened.take()
        return "" if rows else IN_FULL if self._shortened.has_shown else NOT_SHORTENED


def _wrap_code(text: str, width: int) -> list[Fragments]:
    return [[("", row)] for line in clean(text).expandtabs(4).split("\n") for row in wrap_line(line, width)]


@lru_cache(maxsize=256)
def _translate(style: Style | None) -> str:
    """The style of a row in the words of the live screen."""
    return translate_style(str(style.update_link(None)), dims=True) if style else ""
