"""One theme for the rows of a conversation and the screen below them, which two libraries draw."""

import re

from msgspec.structs import replace
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import _EscapeCodeCache
from rich.color import Color, ColorSystem
from rich.style import Style
from tests.tables import for_each

from halocline.store.themes import ATTRIBUTES, BUILT_IN, COLORS, ROLES, TERMINAL
from halocline.surfaces.terminal.application.layout import build_style
from halocline.surfaces.terminal.drawing.theme import build_styles


@for_each("word", (*COLORS, "#00afd7"))
def test_a_style_looks_the_same_in_rows_and_on_the_screen_below_them(word):
    for style in (f"bold italic {word}", f"underline {word} on {word}", f"reverse on {word}"):
        theme = replace(TERMINAL, styles={**TERMINAL.styles, "loud": style})
        rich = build_styles(theme).styles["loud"]
        screen = _EscapeCodeCache(ColorDepth.DEPTH_24_BIT)[build_style(theme).get_attrs_for_style_str("class:loud")]
        codes = {*re.findall(r"[34]8;2;\d+;\d+;\d+|\d+", screen)} - {"0"}
        assert codes == {*re.findall(r"[34]8;2;\d+;\d+;\d+|\d+", _first_code(rich))}


@for_each("role", ROLES)
def test_each_role_has_its_style_in_rows_and_on_the_screen(role):
    theme = replace(TERMINAL, styles={**TERMINAL.styles, role: "#012345"})
    assert build_style(theme).get_attrs_for_style_str(f"class:{role}").color == "012345"
    assert build_styles(theme).styles[role].color.name == "#012345"


@for_each("behind", ("#000000", "#101216", "#282a36", "#002b36", "#1e1e1e", "#fdf6e3", "#ffffff"))
def test_the_bands_of_a_diff_are_seen_as_red_and_green_among_256_colors(behind):
    styles = build_styles(TERMINAL, Color.parse(behind).triplet, has_palette=True).styles
    shown = {
        name: styles[name].bgcolor.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
        for name in ("added", "added.word", "removed", "removed.word")
    }
    assert len({*shown.values()}) == 4, shown
    for name, (red, green, blue) in shown.items():
        assert (green > max(red, blue)) if name.startswith("added") else (red > max(green, blue)), shown


def _first_code(style: Style) -> str:
    return style.render("x").partition("x")[0]


def test_only_a_theme_that_names_a_color_has_colors():
    assert [theme.name for theme in BUILT_IN if not theme.has_colors] == ["plain"]
    assert not build_style(BUILT_IN[-1]).get_attrs_for_style_str("class:quiet").color
    assert {*ATTRIBUTES}.isdisjoint(COLORS)
