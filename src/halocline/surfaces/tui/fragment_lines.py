"""A part of the screen that is as high as its lines: headings, the card, the status line."""

from collections.abc import Callable
from typing import Any

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from halocline.surfaces.cli.live.activity import Fragments
from halocline.surfaces.tui.drawing import find_pen

Lines = Callable[[int, int], list[Fragments]]
"""Lines for a width, at most so many."""


class FragmentLines(Widget):
    """Draws `lines`, at most `most` of them."""

    DEFAULT_CSS = "FragmentLines { height: auto; background: transparent; }"

    def __init__(self, lines: Lines, most: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines
        self.most = most
        self._drawn: list[Strip] = []

    def redraw(self) -> None:
        """Draw again, with another height if needed."""
        count = len(self._drawn)
        self._draw(self.size.width or 80)
        self.refresh(layout=len(self._drawn) != count)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._draw(width)
        return len(self._drawn)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        return (self._drawn[y] if y < len(self._drawn) else Strip.blank(width)).crop_extend(0, width, None)

    def render(self) -> Any:
        return ""

    def _draw(self, width: int) -> None:
        pen = find_pen(self)
        self._drawn = [pen.draw_fragments(line) for line in self._lines(max(1, width), self.most)]
