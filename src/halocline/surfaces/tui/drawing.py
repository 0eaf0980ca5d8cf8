"""From rich's renderables, and lines of the live screen, to the lines that Textual draws.

What must stay true: every character passes `reveal`, and nothing is ever read as markup. So text from models, tools and
files can neither steer the terminal nor act as a link or an action of Textual.
"""

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.strip import Strip
from textual.widget import Widget

from halocline.surfaces.cli.live.activity import Fragments
from halocline.surfaces.cli.output.theme import PLAIN, Safe, ThemeChoice
from halocline.surfaces.sanitize import reveal

_LIVE_STYLES = {"loud": "bold white on red", "prompt": "bold cyan"}
"""Styles of the live screen that the theme lacks or has otherwise."""
_PLAIN_STYLES = {"loud": "reverse bold", "prompt": "bold"}


class Pen:
    """Draws in the styles of a theme. Lines that are kept are drawn again by another pen."""

    def __init__(self, theme: str = "terminal") -> None:
        self._console = Console(
            file=io.StringIO(),  # goes nowhere, as Textual writes the lines
            force_terminal=True,
            color_system="truecolor",
            highlight=False,
            markup=False,
        )
        ThemeChoice(self._console).choose(theme)
        self._live_styles = _PLAIN_STYLES if theme == PLAIN else _LIVE_STYLES
        self._styles: dict[str, Style] = {}

    def draw_strips(self, body: RenderableType, width: int, *, apart: bool = False) -> list[Strip]:
        """Draw a renderable as lines; `apart`: after a blank line."""
        options = self._console.options.update(width=max(1, width), height=None)
        lines = self._console.render_lines(Safe(body, apart), options, pad=False)
        return [Strip(Segment.remove_color(line) if self._console.no_color else line) for line in lines]

    def draw_fragments(self, fragments: Fragments) -> Strip:
        """Draw one line of the live screen."""
        shown = [(self.find_style(style), text) for style, text in fragments if text]
        return Strip([Segment(reveal(text).replace("\n", "␊"), style) for style, text in shown])

    def draw_text(self, text: str, style: str = "") -> Strip:
        return self.draw_fragments([(f"class:{style}" if style else "", text)])

    def find_style(self, name: str) -> Style:
        """Return the style that a class of the live screen has."""
        if name not in self._styles:
            known = name.removeprefix("class:")
            found = self._console.get_style(self._live_styles.get(known, known)) if known else Style.null()
            self._styles[name] = found.without_color if self._console.no_color else found
        return self._styles[name]


class PenApp(App[None]):
    """An application whose parts draw with one pen, in the terminal's own colors."""

    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self.pen = Pen()


def find_pen(widget: Widget) -> Pen:
    """Return the pen of a widget's application."""
    assert isinstance(widget.app, PenApp)
    return widget.app.pen


def mark_matches(strip: Strip, words: str) -> Strip:
    """Mark where a line has the words that are searched."""
    text, at = strip.text.casefold(), 0
    if len(text) != len(strip.text):  # a letter whose small form is longer
        return strip
    cuts: list[tuple[int, int]] = []
    while words and (found := text.find(words, at)) >= 0:
        at = found + len(words)
        cuts.append((cell_len(strip.text[:found]), cell_len(strip.text[:at])))
    return _mark_cells(strip, cuts) if cuts else strip


def _mark_cells(strip: Strip, spans: Sequence[tuple[int, int]]) -> Strip:
    marked, parts, end = Style(reverse=True), [], 0
    for first, last in spans:
        parts += [strip.crop(end, first), strip.crop(first, last).apply_style(marked)]
        end = last
    return Strip.join([*parts, strip.crop(end)])
