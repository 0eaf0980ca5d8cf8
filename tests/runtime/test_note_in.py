import pytest

from halocline.runtime.rules.memory import parse_note


@pytest.mark.parametrize(
    ("typed", "note"),
    [
        ("# the tests need a database", "the tests need a database"),
        ("  #   spaces around  ", "spaces around"),
        ("#hashtag", ""),
        ("# ", ""),
        ("## A heading", ""),
        ("# A heading\n\nand text", ""),
        ("no # note", ""),
    ],
)
def test_a_note_is_one_line_behind_a_hash_and_a_space(typed: str, note: str):
    assert parse_note(typed) == note
