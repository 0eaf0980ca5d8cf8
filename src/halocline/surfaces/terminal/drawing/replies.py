"""Prints replies as formatted Markdown; the rest of a very long reply is printed as plain text."""

import re
from collections.abc import Sequence

from rich.text import Text

from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.drawing.markdown_blocks import CodeRest, is_fenced, split_blocks
from halocline.surfaces.terminal.drawing.scrollback import Scrollback
from halocline.surfaces.terminal.drawing.theme import MARGIN, WIDEST, Gutter, line

DRAWN = 24_000
"""Most characters of a reply that are formatted: a list takes seconds and 200 MB per MB."""
PLAIN_FROM_HERE = "long reply: the rest is plain text"
_ADDRESS = re.compile(r"\s*https?://\S+\s*")


class Replies:
    """Prints one reply after another, counting formatted characters."""

    def __init__(self, out: Scrollback) -> None:
        self._out = out
        self._code_blocks = 0
        self.begin()

    def begin(self) -> None:
        """Start another reply."""
        self._drawn = 0
        self._mark = Text(self._out.reply_mark, end="")

    def print(self, text: str) -> None:
        """Print more of a reply: formatted up to the limit, then as plain text."""
        if isinstance(text, CodeRest):
            self.print_code(text, is_first=False)
            return
        drawn, rest = cut_at_line(text, DRAWN - self._drawn)
        self._draw(drawn)
        if rest:
            if self._drawn <= DRAWN:
                self._out.print(line(PLAIN_FROM_HERE, "quiet"))
            self._out.print_plain(rest)
        self._drawn += len(text)

    def print_code(self, text: str, *, is_first: bool) -> None:
        """Print lines of a code block that is still being written, below those printed before."""
        if is_first:
            self._code_blocks += 1
        group = f"code {self._code_blocks}"
        fence, *lines = text.split("\n")
        if self._drawn > DRAWN:
            self._out.print_plain("\n".join(lines[:-1]))
            return
        if lines[:-1]:
            self._print_code(fence, lines[:-1], group)
        self._drawn += len(text)

    def _draw(self, text: str) -> None:
        for block in split_blocks(text):
            if _ADDRESS.fullmatch(block):
                self._out.print_whole(Text(clean(block.strip())))
            elif (lines := block.split("\n"))[1:-1] and self._out.is_terminal and is_fenced(lines):
                self._print_code(lines[0], lines[1:-1])
            elif self._out.is_terminal:
                self._print_prose(block)
            else:
                self._out.print(Gutter(drawing.markdown.Prose(block), self._mark, MARGIN))
                self._mark = MARGIN

    def _print_prose(self, block: str) -> None:
        """Print text, and code in it as it is, at any depth."""
        self._code_blocks += 1
        group, console = f"code {self._code_blocks}", self._out.console
        for piece in drawing.markdown.split_codes(block, console, min(console.width, WIDEST)):
            if isinstance(piece, drawing.markdown.Rows):
                self._out.print(piece, group)
            else:
                self._out.print_whole(drawing.markdown.color_code(piece.text, piece.language, console), group)

    def _print_code(self, fence: str, lines: Sequence[str], group: str = "") -> None:
        """Print code at the left edge, as it is: what is copied from the terminal is the program."""
        indent = len(fence) - len(fence.lstrip(" "))
        code = "\n".join(clean(line)[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines)
        language = fence.strip().lstrip("`~").strip().partition(" ")[0]
        self._out.print_whole(drawing.markdown.color_code(code, language or "text", self._out.console), group)


def cut_at_line(text: str, most: int) -> tuple[str, str]:
    """Split off whole lines at the start, of at most this many characters."""
    if len(text) <= most:
        return text, ""
    at = text.rfind("\n", 0, max(0, most)) + 1
    return text[:at], text[at:]
