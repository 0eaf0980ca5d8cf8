"""Theme of line mode: one accent, dim for secondary text, green and red only for outcomes and changes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from rich.color import Color, ColorSystem, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme as Styles

from halocline.client.themes import TERMINAL, Theme
from halocline.surfaces.sanitize import reveal

WIDEST = 110
"""Most columns used; longer lines are hard to read. A diff may use more, for two columns."""


_TINTS = {
    "added": ("good", 0.22),
    "added.word": ("good", 0.45),
    "removed": ("bad", 0.22),
    "removed.word": ("bad", 0.45),
}
"""Bands of a diff: the role whose color is mixed into the background, and how much of it."""
_BAND = 0.09
"""The part of the text's color in the band of a prompt."""
_PALER = 0.7
"""The part of those shares on a light background, where the brightest form of the color is mixed in."""
_TINGE = 32
"""Least difference between the parts of a color that is seen as one: a step of the 256 is 40."""
_LIGHT = 384
"""From this sum of its three parts on, a background is light."""


def build_styles(theme: Theme, behind: ColorTriplet | None = None, *, has_palette: bool = False) -> Styles:
    """Build the styles of rows from those of a theme, whose words are the same.

    `behind` is the color of the terminal's background: where it is unknown, nothing has a band. `has_palette`: the
    terminal shows the nearest of 256 colors.
    """
    roles = theme.styles
    accent, quiet, title = roles["accent"], roles["quiet"], roles["title"]
    return Styles(
        {
            **roles,
            **_mix_bands(roles, behind if theme.has_colors else None, has_palette),
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


def _mix_bands(roles: Mapping[str, str], behind: ColorTriplet | None, has_palette: bool) -> dict[str, Style]:
    """The styles of bands; without a background they are empty."""
    if behind is None:
        return dict.fromkeys((*_TINTS, "band"), Style())
    is_light = sum(behind) >= _LIGHT
    ink = ColorTriplet(0, 0, 0) if is_light else ColorTriplet(255, 255, 255)
    mixed = {"band": blend_rgb(behind, ink, _BAND)}
    for name, (role, share) in _TINTS.items():
        color = Style.parse(roles[role]).color
        own = color.get_truecolor() if color else ink
        if is_light and color:
            own, share = ColorTriplet(*(part * 255 // max(*own, 1) for part in own)), share * _PALER
        mixed[name] = _find_tint(behind, own, share, mixed) if has_palette else blend_rgb(behind, own, share)
    return {name: Style(bgcolor=Color.from_triplet(color)) for name, color in mixed.items()}


def _find_tint(
    behind: ColorTriplet, own: ColorTriplet, share: float, others: Mapping[str, ColorTriplet]
) -> ColorTriplet:
    """The first of 256 colors, from a share on, that is seen to be of a color and is not that of another band."""
    shares = [share + step / 20 for step in range(20) if share + step / 20 < 1]
    found = [*(_nearest(blend_rgb(behind, own, one)) for one in shares), _nearest(own)]
    return next((one for one in found if _has_tinge(one, own) and one not in others.values()), found[-1])


def _has_tinge(color: ColorTriplet, own: ColorTriplet) -> bool:
    strong = {at for at in range(3) if own[at] == max(own)}
    weak = {*range(3)} - strong
    return not weak or min(color[at] for at in strong) - max(color[at] for at in weak) >= _TINGE


def _nearest(color: ColorTriplet) -> ColorTriplet:
    return Color.from_triplet(color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()


def find_code_theme(console: Console) -> str:
    """The colors of code that can be read on the terminal's background; where it is unknown, those for dark ones.

    A terminal's own yellow cannot be read on the bands of a light diff, nor its blue on those of a dark one: where
    there are bands, the colors are fixed ones.
    """
    behind = console.get_style("band").bgcolor
    fixed = "xcode" if behind and sum(behind.get_truecolor()) >= _LIGHT else "native"
    return fixed if behind else "ansi_dark"


THEME = build_styles(TERMINAL)


class ThemeChoice:
    """The theme of a console: the one of the settings until the person chooses another."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._theme = TERMINAL
        self._behind: ColorTriplet | None = None
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
        self._theme = theme
        self._draw()
        self._console.no_color = not theme.has_colors or bool(os.environ.get("NO_COLOR"))

    def learn_background(self, color: tuple[int, int, int]) -> None:
        """Draw bands that suit the color behind the text, where there are more colors than 16."""
        if self._console.color_system in ("256", "truecolor"):
            self._behind = ColorTriplet(*color)
            self._draw()

    def _draw(self) -> None:
        styles = build_styles(self._theme, self._behind, has_palette=self._console.color_system == "256")
        self._console.push_theme(styles, inherit=False)


MARGIN = Text("  ", end="")
"""The left margin of prose."""


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
class Band:
    """A body on a band of a style, as wide as there is room; one without a background changes nothing."""

    body: RenderableType
    style: str = "band"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style = console.get_style(self.style)
        is_drawn = style.bgcolor is not None
        for row in console.render_lines(self.body, options, style=style, pad=is_drawn):
            yield from row
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


@dataclass(frozen=True, slots=True)
class ShortOr:
    """A text, or a shorter one where the first does not fit on one line."""

    whole: Text
    short: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.whole if self.whole.cell_len <= options.max_width else self.short


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
