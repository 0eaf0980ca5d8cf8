"""Prints replies: Markdown is drawn, and what follows a long beginning is printed as it was written."""

import re

from rich.text import Text

from halocline.surfaces.cli.output.markdown_blocks import split_blocks
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.scrollback import Scrollback
from halocline.surfaces.cli.output.theme import Gutter, line

DRAWN = 24_000
"""Characters of one reply that are drawn: drawing takes seconds, and 200 MB, for each MB of a list."""
PLAIN_FROM_HERE = "long: from here on as it was written"
_ADDRESS = re.compile(r"\s*https?://\S+\s*")
_MARGIN = Text("  ", end="")


class Replies:
    """Counts what of the reply that is being printed was drawn."""

    def __init__(self, out: Scrollback) -> None:
        self._out = out
        self._drawn = 0

    def begin(self) -> None:
        """Another reply comes."""
        self._drawn = 0

    def print(self, text: str) -> None:
        """Draw more of a reply, as far as there is room for it, and print the rest plainly."""
        drawn, rest = cut_at_line(text, DRAWN - self._drawn)
        self._draw(drawn)
        if rest:
            if self._drawn <= DRAWN:
                self._out.print(line(PLAIN_FROM_HERE, "quiet"))
            self._out.print_plain(rest)
        self._drawn += len(text)

    def _draw(self, text: str) -> None:
        from halocline.surfaces.cli.output.markdown import Prose

        for block in split_blocks(text):
            if _ADDRESS.fullmatch(block):
                self._out.print_whole(clean(block.strip()))
            else:
                self._out.print(Gutter(Prose(block), _MARGIN, _MARGIN))


def cut_at_line(text: str, most: int) -> tuple[str, str]:
    """The whole lines at the beginning that take at most so many characters, and the rest."""
    if len(text) <= most:
        return text, ""
    at = text.rfind("\n", 0, max(0, most)) + 1
    return text[:at], text[at:]
