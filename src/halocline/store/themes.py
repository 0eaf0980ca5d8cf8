"""The colors of a conversation in the terminal: themes that are built in, and those in files of plug-ins.

What must stay true: a theme is data. Each style is made of the words below alone, so none carries a code of a terminal.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from halocline.files.regular import read_regular
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.file_names import make_printable
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

ROLES = ("accent", "quiet", "good", "bad", "warn", "loud", "title", "prompt", "thought", "quote")
"""The parts of a theme: secondary text is quiet, deleted lines are bad, a mode that asks for nothing is loud."""
ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")
_NAMED = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLORS = (*_NAMED, *(f"bright_{name}" for name in _NAMED))
"""The 16 colors of a terminal, which shows them as its person set them."""
HOW = f"a style is {', '.join(ATTRIBUTES)}, then a color, then `on` and another, as in `bold #d78700 on bright_black`"
MOST_THEMES, LONGEST_DESCRIPTION = 50, 200
LARGEST = 2_000
"""Bytes of a file."""
_COLOR = f"(?:#[0-9a-fA-F]{{6}}|{'|'.join(COLORS)})"
_STYLE = compile_later(f"(?: (?:{'|'.join(ATTRIBUTES)}))*(?: {_COLOR})?(?: on {_COLOR})?")
_SAME = compile_later(r"(?:^| )(\S+) on \1$")
_NAME = compile_later(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Theme(Value, frozen=True):
    """A style for each role, in words such as `bold #d78700 on black`. `problem` says why it cannot be used."""

    name: str
    description: str = ""
    styles: Mapping[str, str] = {}
    problem: str = ""

    @property
    def has_colors(self) -> bool:
        return any({*style.split()} - {*ATTRIBUTES} for style in self.styles.values())


TERMINAL = Theme(
    "terminal",
    "the 16 colors of your terminal",
    {
        "accent": "cyan",
        "quiet": "dim",
        "good": "green",
        "bad": "red",
        "warn": "yellow",
        "loud": "bold bright_white on red",
        "title": "bold",
        "prompt": "bold",
        "thought": "dim italic",
        "quote": "dim",
    },
)
BUILT_IN = (
    TERMINAL,
    Theme(
        "color-blind",
        "blue and yellow in place of green and red",
        {**TERMINAL.styles, "good": "bright_blue", "bad": "yellow", "warn": "magenta"},
    ),
    Theme(
        "high-contrast",
        "nothing dim, more that is bold",
        {
            **TERMINAL.styles,
            **dict.fromkeys(("accent", "warn"), "bold"),
            "quiet": "",
            "good": "bold green",
            "bad": "bold red",
            "thought": "italic",
            "quote": "italic",
        },
    ),
    Theme(
        "plain",
        "no colors",
        {
            **TERMINAL.styles,
            **dict.fromkeys(("accent", "good", "warn"), "bold"),
            "bad": "",
            "loud": "bold reverse",
        },
    ),
)


def themes_of_plugin(plugin: Plugin) -> Iterator[Theme]:
    """Yield the themes of a plug-in that a person did not turn off, by their names in it."""
    for folder in map(Path, plugin.paths("theme")):
        for file in sorted(folder.glob("*.toml"))[:MOST_THEMES]:
            if plugin.has("theme", file.stem):
                yield _read_file(file)


def _read_file(file: Path) -> Theme:
    name = make_printable(file.stem)
    try:
        if not _NAME.fullmatch(name):
            raise ValueError(
                "its name must begin with a letter or digit, and have only these, dots, dashes and underscores"
            )
        data = read_regular(file)
        if len(data) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        return read_theme(name, data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:  # also of TOML and UTF-8
        return Theme(name, problem=make_printable(str(error)))


def read_theme(name: str, text: str) -> Theme:
    """Return the theme of a file. Raises ValueError, which says what is wrong with it."""
    import tomllib  # who has no such theme needs none

    given = tomllib.loads(text)
    description = given.pop("description", "")
    if missing := [role for role in ROLES if role not in given]:
        raise ValueError(f"it has no {', '.join(missing)}")
    if unknown := [role for role in given if role not in ROLES]:
        raise ValueError(f"{_show(unknown[0])} is no part of a theme; these are: {', '.join(ROLES)}")
    if not isinstance(description, str) or len(description) > LONGEST_DESCRIPTION or not description.isprintable():
        raise ValueError(f"its description is no line of at most {LONGEST_DESCRIPTION} characters")
    for role, style in given.items():
        if not isinstance(style, str) or not _STYLE.fullmatch(f" {style}".rstrip(" ")):
            raise ValueError(f"its {role} is {_show(style)}, but {HOW}")
        if _SAME.search(style):
            raise ValueError(f"its {role} is {_show(style)}, so its text has the color of its background")
    return Theme(name, description, given)


def _show(value: Any) -> str:
    return make_printable(repr(value))[:60]
