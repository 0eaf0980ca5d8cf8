from itertools import pairwise

from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.surfaces.terminal.drawing.markdown_blocks import Blocks, CodeRest, split_blocks

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


@for_each(
    "text, blocks",
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


def test_lines_of_code_are_taken_while_they_are_written_and_none_is_lost() -> None:
    blocks, taken = Blocks(), []
    for line in ("Before.\n", "\n", "```python\n", "a = 1\n", "\n", "b = 2\n", "\n", "```\n", "after\n"):
        taken += [(str(block), None) for block in blocks.feed(line)]
        if code := blocks.take_code():
            taken.append(code)
    assert taken == [
        ("Before.", None),
        ("```python\na = 1\n```", True),
        ("```python\n\nb = 2\n```", False),
        ("```python\n\n```", None),
    ]
    assert blocks.flush() == ["after"]


def test_code_that_is_cut_off_is_closed() -> None:
    blocks = Blocks()
    blocks.feed("~~~\nfirst\n")
    assert blocks.take_code() == ("~~~\nfirst\n~~~", True)
    blocks.feed("second")
    (rest,) = blocks.flush()
    assert (rest, type(rest)) == ("~~~\nsecond\n~~~", CodeRest)


def test_code_in_a_list_is_not_taken() -> None:
    blocks = Blocks()
    blocks.feed("- item\n\n  ```\n  code\n")
    assert blocks.take_code() is None
