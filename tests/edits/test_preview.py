from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halocline.edits.blocks import parse
from halocline.edits.plan import apply
from halocline.edits.preview import Preview
from halocline.edits.text import EditError, TextFile

FILE = TextFile("".join(f"line {i}\r\n" for i in range(30)) + "same\nsame\n")
WORDS = [
    "line 3",
    "line 7",
    "  line 7",
    "line 29",
    "same",
    "nowhere",
    "",
    "new",
    "=======",
    "-------",
    "+++ REPLACE",
    "é",
]
LINES = st.lists(st.sampled_from(WORDS), max_size=3)
MARKS = st.sampled_from([("------- SEARCH", "=======", "+++++++ REPLACE"), ("<<< SEARCH", "===", ">>> REPLACE")])
BLOCK = st.builds(lambda m, s, r: [m[0], *s, m[1], *r, m[2]], MARKS, LINES, LINES)
CUT = st.integers(0, 60)
DIFF = st.lists(BLOCK, max_size=5).map(lambda blocks: [line for block in blocks for line in block])
DIFFS = st.one_of(
    st.builds(lambda lines, cut, eol: eol.join(lines)[: -cut or None], DIFF, CUT, st.sampled_from(["\n", "\r\n"])),
    st.lists(st.sampled_from([*WORDS, "------- SEARCH", "+++++++ REPLACE"]), max_size=12).map("\n".join),
)


def fed(pieces: list[str]) -> Preview:
    preview = Preview(FILE)
    for piece in pieces:
        preview.feed(piece)
    return preview


def outcome(act):
    try:
        return act()
    except EditError as error:
        return error.text


@given(DIFFS, st.lists(st.integers(0, 400), max_size=8))
def test_however_a_diff_is_cut_it_gives_the_same_and_never_fails_before_its_end(diff: str, cuts: list[int]):
    places = sorted({0, len(diff), *(cut for cut in cuts if cut < len(diff))})
    whole, cut = fed([diff]), fed([diff[a:b] for a, b in pairwise(places)])
    assert cut.placements == whole.placements
    assert cut.text() == whole.text()
    assert outcome(cut.finish) == outcome(whole.finish) == outcome(lambda: apply(FILE, parse(diff)))


@given(DIFFS)
def test_what_is_settled_stays_and_is_what_the_whole_diff_gives(diff: str):
    preview = Preview(FILE)
    settled = 0
    for char in f"{diff}\n":
        preview.feed(char)
        assert preview.blocks >= settled
        settled = preview.blocks
    final = outcome(preview.finish)
    if not isinstance(final, str) and settled == len(parse(diff)):
        assert (preview.text(), preview.applied) == final


def test_a_block_settles_with_its_last_line_and_one_without_a_place_is_left_out():
    preview = Preview(FILE)
    preview.feed("------- SEARCH\nline 3\n=======\nthree\n+++++++ REPLACE")
    assert (preview.blocks, preview.placements) == (0, [])
    preview.feed("\n------- SEARCH\nsame\n=======\nx\n+++++++ REPLACE\n------- SEARCH\nline")
    assert preview.blocks == 2
    assert [str(one) for one in preview.applied] == ["block 1: lines 4-4 (exact)"]
    assert preview.text().text == FILE.text.replace("line 3\r", "three\r")
    with pytest.raises(EditError):
        preview.finish()
