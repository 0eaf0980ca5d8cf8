import unicodedata

import pytest
from hypothesis import given, strategies as st

from halocline.surfaces.sanitize import clean, reveal

HOSTILE = st.text(
    alphabet=st.one_of(st.sampled_from("\x1b\x9b\x9d]0;[31mJH\x07\\\r\n\t\u202e\u2066\ufeff"), st.characters())
)


@given(HOSTILE)
def test_no_control_character_but_line_end_and_tab_survives(text: str) -> None:
    for made in (clean(text), reveal(text)):
        assert not [char for char in made if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]


@given(HOSTILE)
def test_what_is_shown_can_always_be_written_as_utf_8(text: str) -> None:
    assert reveal(text).encode().decode() == reveal(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07rest", "rest"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jx", "x"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("\x1bcx", "x"),
        ("\x1b(Bx", "x"),
        ("\x1b]0;never ends", "␛]0;never ends"),
        ("a\x00b\x7f", "a␀b␡"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("user\u202egnp.exe", "user<U+202E>gnp.exe"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("👩‍💻 é 漢", "👩‍💻 é 漢"),
    ],
)
def test_sequences_are_dropped_and_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_what_is_to_be_decided_on_is_shown_with_its_escape_sequences() -> None:
    assert reveal("rm \x1b[8mhidden\x1b[0m") == "rm ␛[8mhidden␛[0m"
