"""Theme of line mode: one accent, dim for secondary text, green and red only for outcomes and changes."""

import os
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme as Styles

from halocline.client.themes import TERMINAL, Theme
from halocline.surfaces.sanitize import reveal

WIDEST = 110
"""Most columns used; longer lines are hard to read. A diff may use more, for two columns."""


def build_styles(theme: Theme) -> Styles:
    """Build the styles of rows from those of a theme, whose words are the same."""
    roles = theme.styles
    accent, quiet, title = roles["accent"], roles["quiet"], roles["title"]
    return Styles(
        {
            **roles,
            **dict.fromkeys(("markdown.code", "markdown.item.bullet", "markdown.item.number"), accent),
            **dict.fromkeys(("markdown.h2", "markdown.h3", "markdown.table.header"), title),
            "markdown.h1": f"underline {title}",
            "markdown.h4": f"{title} {quiet}",
            "markdown.block_quote": roles["quote"],
            "markdown.link": "",
            "markdown.link_url": f"underline {accent}",
            "markdown.table.border": quiet,
        }
    )


THEME = build_styles(TERMINAL)


class ThemeChoice:
    """The theme of a console: the one of the settings until the person chooses another."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_begun = False

    def begin(self, theme: Theme) -> bool:
        """Draw with the theme of the settings, unless there is one already. Returns whether this one is new."""
        if self._is_begun:
            return False
        self.choose(theme)
        return True

    def choose(self, theme: Theme) -> None:
        """Draw with a theme from now on."""
        self._is_begun = True
        self._console.push_theme(build_styles(theme), inherit=False)
        self._console.no_color = not theme.has_colors or bool(os.environ.get("NO_COLOR"))


@dataclass(frozen=True, slots=True)
class Gutter:
    """Puts a mark before the first line of a body, and another of the same width before each other line."""

    body: RenderableType
    first: Text
    rest: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(
            self.body, options.update(width=max(1, options.max_width - self.first.cell_len)), pad=False
        )
        for index, line in enumerate(lines):
            yield from console.render(self.rest if index else self.first, options)
            yield from line
            yield Segment.line()


@dataclass(frozen=True, slots=True)
class Wide:
    """A body that may use all columns."""

    body: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.body


@dataclass(frozen=True, slots=True)
class Safe:
    """Last filter before the terminal: the only escape codes are rich's styles. `apart`: after a blank line."""

    body: RenderableType
    apart: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widest = options.max_width if isinstance(self.body, Wide) else WIDEST
        narrowed = options.update(width=min(options.max_width, widest))
        if self.apart:
            yield Segment.line()
        for segment in console.render(self.body, narrowed):
            if not segment.control:
                yield Segment(reveal(segment.text), segment.style)


def marked(body: RenderableType, mark: str = " ", style: str = "", rest: str = " ") -> Gutter:
    """A body after a one-character mark; `rest` marks its other lines."""
    return Gutter(body, Text(f"{mark} ", style=style, end=""), Text(f"{rest} ", style="quiet", end=""))


def line(text: str, style: str = "") -> Text:
    """One line, cut with an ellipsis."""
    return Text(text.expandtabs(4), style=style, no_wrap=True, overflow="ellipsis")


def wrapped(text: str, style: str = "") -> Text:
    """Text that wraps; nothing is cut."""
    return Text(text.expandtabs(4), style=style, overflow="fold")


def draw_end(text: str, style: str) -> RenderableType:
    return marked(wrapped(text, style), "└", "quiet")
