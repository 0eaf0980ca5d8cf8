from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from halocline.surfaces.cli.output.markdown_blocks import Blocks, split_blocks

FLOW = ["", "", " ", "Words.", "more words", "   continued", "# Title", "## Part", "#no", "====", "-", "---", "***"]
LISTS = ["- item", "  - inner", "1. first", "2) second", "* star"]
BLOCKS = ["```", "```py", "~~~", "````", "  ```", "``` no fence ```", "    code", "\tcode", "| a |", "| - |", "> quote"]
LINES = st.sampled_from([*FLOW, *LISTS, *BLOCKS])
TEXTS = st.lists(LINES, max_size=14).map("\n".join)


def in_pieces(text: str, cuts: list[int]) -> list[str]:
    blocks, found = Blocks(), []
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in pairwise(edges):
        found += blocks.feed(text[start:end])
    return found + blocks.flush()


@given(TEXTS, st.lists(st.integers(0, 500), max_size=12))
def test_any_way_of_cutting_the_text_gives_the_same_blocks(text: str, cuts: list[int]) -> None:
    assert in_pieces(text, cuts) == split_blocks(text)


@given(TEXTS)
def test_character_by_character_gives_the_same_blocks(text: str) -> None:
    assert in_pieces(text, list(range(len(text)))) == split_blocks(text)


@given(TEXTS)
def test_no_line_is_lost_and_none_is_moved(text: str) -> None:
    kept = [line for block in split_blocks(text) for line in block.split("\n") if line.strip()]
    assert kept == [line for line in text.split("\n") if line.strip()]


@given(TEXTS)
def test_a_block_is_not_split_again(text: str) -> None:
    for block in split_blocks(text):
        assert split_blocks(block) == [block]


@given(TEXTS)
def test_windows_line_ends_give_the_same_blocks(text: str) -> None:
    assert split_blocks(text.replace("\n", "\r\n")) == split_blocks(text)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\ntwo\n\nthree", ["one\ntwo", "three"]),
        ("# Title\nwords", ["# Title", "words"]),
        ("words\n# Title", ["words", "# Title"]),
        ("Title\n===\n\nwords", ["Title\n===", "words"]),
        ("- a\n- b\n\n- c\n\nwords", ["- a\n- b\n\n- c", "words"]),
        ("intro:\n- a\n- b", ["intro:", "- a\n- b"]),
        ("1. a\n\n   more of a\n2. b", ["1. a\n\n   more of a\n2. b"]),
        ("```py\na\n\nb\n```\nwords", ["```py\na\n\nb\n```", "words"]),
        ("words\n```\na\n```", ["words", "```\na\n```"]),
        ("````\n```\n\n````\nx", ["````\n```\n\n````", "x"]),
        ("~~~\n```\n\n~~~", ["~~~\n```\n\n~~~"]),
        ("- a\n  ```\n  x\n\n  y\n  ```\n- b\n\nend", ["- a\n  ```\n  x\n\n  y\n  ```\n- b", "end"]),
        ("- a\n```\nx\n```", ["- a", "```\nx\n```"]),
        ("| a |\n| - |\n| b |\n\nwords", ["| a |\n| - |\n| b |", "words"]),
        ("words\n\n---\n\nmore", ["words", "---", "more"]),
        ("> a\n> b\n\nwords", ["> a\n> b", "words"]),
        ("```\nnever closed\n\nstill code", ["```\nnever closed\n\nstill code"]),
        ("\n\n\n", []),
    ],
)
def test_blocks_are_what_a_reader_of_markdown_expects(text: str, blocks: list[str]) -> None:
    assert split_blocks(text) == blocks


def test_a_block_is_given_as_soon_as_it_is_finished() -> None:
    blocks = Blocks()
    assert blocks.feed("First paragraph.\n\nSecond") == ["First paragraph."]


def test_a_heading_is_finished_at_the_end_of_its_line() -> None:
    assert Blocks().feed("# Title\n") == ["# Title"]


def test_the_tail_is_the_end_of_what_is_not_finished() -> None:
    blocks = Blocks()
    blocks.feed("done\n\nnow being wri")
    assert blocks.tail(9) == "being wri"
