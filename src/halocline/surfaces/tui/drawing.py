"""From rich's renderables, and lines of the live screen, to the lines that Textual draws.

What must stay true: every character passes `reveal`, and nothing is ever read as markup. So text from models, tools and
files can neither steer the terminal nor act as a link or an action of Textual.
"""

import io
from collections.abc import Sequence
from functools import cache

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from halocline.surfaces.cli.live.activity import Fragments
from halocline.surfaces.cli.output.theme import THEME, Safe
from halocline.surfaces.sanitize import reveal

_LIVE_STYLES = {"loud": "bold white on red", "prompt": "bold cyan"}
"""Styles of the live screen that the theme lacks or has otherwise."""


def draw_strips(body: RenderableType, width: int, *, apart: bool = False) -> list[Strip]:
    """Draw a renderable as lines; `apart`: after a blank line."""
    options = _build_console().options.update(width=max(1, width), height=None)
    lines = _build_console().render_lines(Safe(body, apart), options, pad=False)
    return [Strip(line) for line in lines]


def draw_fragments(fragments: Fragments) -> Strip:
    """Draw one line of the live screen."""
    return Strip([Segment(reveal(text).replace("\n", "␊"), find_style(style)) for style, text in fragments if text])


def draw_text(text: str, style: str = "") -> Strip:
    return draw_fragments([(f"class:{style}" if style else "", text)])


@cache
def find_style(name: str) -> Style:
    """Return the style that a class of the live screen has."""
    name = name.removeprefix("class:")
    return _build_console().get_style(_LIVE_STYLES.get(name, name)) if name else Style.null()


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


@cache
def _build_console() -> Console:
    """The console that draws; its output goes nowhere, as Textual writes the lines."""
    return Console(
        file=io.StringIO(), theme=THEME, force_terminal=True, color_system="truecolor", highlight=False, markup=False
    )
