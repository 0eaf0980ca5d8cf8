"""Themes of the terminal are data: what is no color of theirs is refused with a sentence."""

import re

import pytest
from tests.tables import for_each

from halocline.protocol.events.plugins import Plugin, PluginPlace
from halocline.store.themes import BUILT_IN, ROLES, TERMINAL, read_theme, themes_of_plugin

WHOLE = {**TERMINAL.styles, "accent": "bold #D78700 on bright_black"}


def write(styles, head='description = "warm"\n'):
    return head + "".join(f"{role} = {style!r}\n" for role, style in styles.items())


REFUSED = {
    "an escape sequence": (write(WHOLE).replace("'green'", '"\x1b[31m"'), "Illegal character"),
    "a name with a code": (write(WHOLE) + '"\\u001b[2J" = "red"\n', r"'\x1b[2J' is no part of a theme"),
    "a style with a code": (write(WHOLE).replace("'red'", '"red\\u001b[2J"'), r"its bad is 'red\x1b[2J'"),
    "a description with a code": (write(WHOLE, 'description = "a\\u0007"\n'), "its description is no line"),
    "a color that there is not": (write(WHOLE | {"bad": "reddish"}), "its bad is 'reddish', but a style is bold, dim"),
    "a color of three digits": (write(WHOLE | {"bad": "#f00"}), "its bad is '#f00'"),
    "a link": (write(WHOLE | {"bad": "link http://a.example"}), "its bad is 'link http"),
    "black on black": (
        write(WHOLE | {"bad": "bold black on black"}),
        "its bad is 'bold black on black', so its text has the color of its background",
    ),
    "a blink": (write(WHOLE | {"warn": "blink red"}), "its warn is 'blink red'"),
    "a line break": (write(WHOLE).replace("good = 'green'", 'good = "green\\n"'), "its good is 'green"),
    "no text": (write(WHOLE).replace("good = 'green'", "good = 7"), "its good is 7"),
    "missing roles": (write(dict.fromkeys(ROLES[2:], "red")), "it has no accent, quiet"),
    "a role that there is not": (write(WHOLE | {"nice": "red"}), "'nice' is no part of a theme; these are: accent"),
    "nothing": ("", "it has no accent, quiet"),
    "no TOML": ("{", "Invalid"),
}


@for_each("case", REFUSED)
def test_what_is_no_theme_is_refused_with_a_sentence(case):
    text, why = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(why)):
        read_theme("dusk", text)


def test_files_of_a_plugin_are_themes_or_say_what_is_wrong_with_them(tmp_path):
    (tmp_path / "themes").mkdir()
    for name, data in {
        "dusk.toml": write(WHOLE).encode(),
        "large.toml": b"#" * 2_001,
        "off.toml": b"",
        "odd name.toml": b"",
        "raw.toml": b"\xff",
        "\x1b[2J.toml": b"",
        "read.me": b"",
    }.items():
        (tmp_path / "themes" / name).write_bytes(data)
    places = (PluginPlace("theme", "themes"),)
    found = [*themes_of_plugin(Plugin("notes", "1", "", str(tmp_path), places=places, off=("theme/of*",)))]
    assert [(theme.name, theme.problem) for theme in found] == [
        ("\\x1b[2J", "its name must begin with a letter or digit, and have only these, dots, dashes and underscores"),
        ("dusk", ""),
        ("large", "it has more than 2,000 bytes"),
        ("odd name", "its name must begin with a letter or digit, and have only these, dots, dashes and underscores"),
        ("raw", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ]
    assert found[1].styles == WHOLE


@for_each("theme", BUILT_IN)
def test_a_built_in_theme_is_one_that_a_file_could_have(theme):
    assert read_theme(theme.name, write(theme.styles, f'description = "{theme.description}"\n')) == theme
