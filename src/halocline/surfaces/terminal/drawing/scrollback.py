"""Prints permanent output above the status line, with consistent spacing."""

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from halocline.surfaces.sanitize import clean, reveal
from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.drawing.diff_view import DiffRow
from halocline.surfaces.terminal.drawing.rows_aloud import DIFF, REPLY, speak_mark, speak_text
from halocline.surfaces.terminal.drawing.side_by_side import Columns
from halocline.surfaces.terminal.drawing.status_line import StatusLine
from halocline.surfaces.terminal.drawing.theme import THEME, Band, Gutter, Safe, ShortOr, Wide

PIECE = 1 << 20
"""Characters sanitized at a time, up to the end of their last line."""


class Scrollback:
    """Prints each item once. A blank line separates items, except neighbors of the same group.

    With `aloud`, it prints words for a screen reader.
    """

    def __init__(self, console: Console, status: StatusLine | None = None, *, aloud: bool = False) -> None:
        console.push_theme(THEME)
        if isinstance(console.file, io.TextIOWrapper):
            console.file.reconfigure(errors="replace")  # characters that the encoding lacks must not end the task
        self.console = console
        self.status = status or StatusLine(console, still=aloud)
        self.group: str | None = None
        self._is_plain = aloud or not console.is_terminal
        self._aloud = aloud

    @property
    def is_terminal(self) -> bool:
        return not self._is_plain

    @property
    def reply_mark(self) -> str:
        """The mark before a reply."""
        return REPLY if self._aloud else "  "

    def print(self, body: RenderableType, group: str = "") -> None:
        self.status.erase()
        apart = self.group is not None and not (group and group == self.group)
        if self._is_plain:
            lines = "".join(f"{reveal(line)}\n" for line in draw_lines(body, aloud=self._aloud))
            self.console.file.write("\n" + lines if apart else lines)
            self.console.file.flush()
        else:
            self.console.print(Safe(body, apart=apart))
        self.group = group

    def print_whole(self, text: Text, group: str = "") -> None:
        """Print lines as they are, so that they can be copied: the terminal alone wraps them."""
        self.status.erase()
        apart = self.group is not None and not (group and group == self.group)
        text.no_wrap, text.overflow = True, "ignore"
        self.console.print(Safe(text, apart=apart), soft_wrap=True)
        self.group = group

    def print_plain(self, text: str) -> None:
        """Print text of any length without rich; the terminal wraps its lines."""
        self.status.erase()
        file, end = self.console.file, 0
        file.write("\n" if self.group is not None else "")
        while end < len(text):
            begin, end = end, text.find("\n", end + PIECE) + 1 or len(text)
            file.write(clean(text[begin:end]))
        file.write("" if text.endswith("\n") else "\n")
        self.group = ""


def draw_lines(body: RenderableType, *, aloud: bool = False, within: str = "") -> Iterator[str]:
    """Yield the lines of a card for pipes and files: nothing is wrapped, cut or styled, and replies stay Markdown.

    With `aloud`, marks are words, also by the mark of the card that they are `within`. Raises TypeError for a kind of
    renderable that no card uses.
    """
    match body:
        case Text():
            yield from (speak_text(body.plain) if aloud else body.plain).split("\n")
        case ShortOr():
            yield speak_text(body.whole.plain) if aloud else body.whole.plain
        case Gutter():
            mark, rest = body.first.plain, body.rest.plain
            inner = mark.strip()
            if aloud:
                mark, rest = speak_mark(mark, within), ""
            for line in draw_lines(body.body, aloud=aloud, within=inner):
                yield f"{mark}{line}".rstrip()
                mark = rest
        case Group():
            for part in body.renderables:
                yield from draw_lines(part, aloud=aloud, within=within)
        case DiffRow():
            yield from draw_lines(body.body, aloud=aloud, within=DIFF)
        case Wide() | Band():
            yield from draw_lines(body.body, aloud=aloud)
        case Columns():
            for part in body.rows:
                yield from draw_lines(part, aloud=aloud)
        case drawing.markdown.Prose():
            yield from body.source.strip("\n").split("\n")
        case _:
            raise TypeError(f"no plain form of {type(body).__name__}")
