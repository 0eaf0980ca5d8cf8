import pytest

from halocline.edits.edit import Edit
from halocline.edits.formats.blocks import MalformedBlocks, parse_blocks

ONE = Edit(1, ("old",), ("new",))


@pytest.mark.parametrize(
    "diff",
    [
        "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n",
        "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE",
        "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH>\nold\n=======>\nnew\n>>>>>>> REPLACE>",
        "--- SEARCH\nold\n===\nnew\n+++ REPLACE",
        "--------- SEARCH\nold\n=========\nnew\n+++++++++ REPLACE",
        "------- SEARCH\nold\n=====\nnew\n++++++ REPLACE",
        "------- SEARCH  \nold\n======= \nnew\n+++++++ REPLACE\t",
        "------- SEARCH\r\nold\r\n=======\r\nnew\r\n+++++++ REPLACE\r\n",
        "```\n------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n```",
        "SEARCH\nold\n=======\nnew\n+++++++ REPLACE",
        "\n\n------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n\n",
    ],
)
def test_one_block_is_read_in_every_accepted_spelling(diff: str):
    assert parse_blocks(diff) == [ONE]


def test_several_blocks_are_numbered_in_order():
    diff = (
        "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n\n"
        "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n------- SEARCH\n\n=======\n+++++++ REPLACE"
    )
    assert parse_blocks(diff) == [Edit(1, ("a",), ("b",)), Edit(2, (), ()), Edit(3, ("",), ())]


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        (("Title", "====="), ("Other", "=====")),
        (("<<<<<<< HEAD", "a", "=====", "b", ">>>>>>> branch"), ("a",)),
        (("--- SEARCH", "x", "===", "y", "+++ REPLACE"), ("z",)),
        (("old",), ("--- SEARCH", "===", "+++ REPLACE")),
    ],
)
def test_marker_like_lines_of_another_length_are_content(search: tuple[str, ...], replace: tuple[str, ...]):
    diff = "\n".join(["------- SEARCH", *search, "=======", *replace, "+++++++ REPLACE"])
    assert parse_blocks(diff) == [Edit(1, search, replace)]


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        ("", "no block"),
        ("just words", "outside any block"),
        ("<<<<<<<SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "outside any block"),
        ("------- SEARCH\na\nb\n+++++++ REPLACE", "no line `=======`"),
        ("------- SEARCH\na\n", "no line `=======`"),
        ("------- SEARCH\nb\n=======", "Block 1 is incomplete"),
        ("------- SEARCH\na\n=======\nb\n```", "Block 1 is incomplete"),
        ("------- SEARCH\na\n=======\nb\n=======\nc\n+++++++ REPLACE", "several dividers"),
        ("------- SEARCH\na\n------- SEARCH\nb\n=======\nc\n+++++++ REPLACE", "no REPLACE marker before"),
        ("------- SEARCH\na\n=======\nb\n------- SEARCH\nc\n=======\nd\n+++++++ REPLACE", "no REPLACE marker before"),
        ("------- SEARCH\na\n=======\nb\n+++++++ REPLACE\nstray", "Line 6 of the diff is outside"),
        ("------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n=======\n", "Line 6 of the diff is outside"),
        ("------- SEARCH\na\n=======\nb\n+++++++", "Block 1 is incomplete"),
        ("------- SEARCH\na\n=======\nb\n+++++++ REPL", "Block 1 is incomplete"),
    ],
)
def test_every_malformation_has_its_own_words(diff: str, message: str):
    with pytest.raises(MalformedBlocks, match=message):
        parse_blocks(diff)
