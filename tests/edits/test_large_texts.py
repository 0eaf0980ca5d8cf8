import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.samples import choose

from halocline.edits.diff import make_diff
from halocline.edits.edit import Edit, Grain, UnplacedEdits
from halocline.edits.large_texts import edit_by_parts
from halocline.edits.plan import all_or_none
from halocline.edits.text import EditError, TextFile

MANY = "".join(f"line {number}\r\n" for number in range(1, 201))
LINE = st.sampled_from(["a", "b", "  a", "", "ab", "def f", "c"])
TEXT = st.builds(
    lambda lines, ends, last: "".join(line + end for line, end in zip(lines, ends, strict=False)) + last,
    st.lists(LINE, min_size=20, max_size=80),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=80, max_size=80),
    st.sampled_from(["", "a", "end"]),
)
SEARCH = st.lists(LINE, min_size=1, max_size=3).map(tuple)
EDITS = st.lists(
    st.builds(
        lambda search, new, grain, headers, end, all_of, near: Edit(
            1, search, new, "edit", grain, headers, end, all_of and grain is Grain.CHARACTERS, near
        ),
        SEARCH,
        st.lists(st.sampled_from(["new", "a", ""]), max_size=3).map(tuple),
        st.sampled_from(Grain),
        st.sampled_from([(), (), ("def f",)]),
        st.booleans(),
        st.booleans(),
        st.integers(0, 90),
    ),
    min_size=1,
    max_size=3,
).map(lambda edits: [replace(edit, number=number) for number, edit in enumerate(edits, 1)])


def by_parts(file: TextFile, edits: list[Edit]):
    return edit_by_parts(file, edits, all_or_none)


@given(TEXT, EDITS)
@settings(max_examples=choose(2_000, 150), deadline=None)
@pytest.mark.slow
def test_an_edit_by_parts_does_what_the_same_edit_of_the_whole_does_or_nothing(text: str, edits: list[Edit]):
    file = TextFile(text)
    try:
        made, (before, after) = by_parts(file, edits)
    except EditError:
        return
    whole = all_or_none(file, edits)
    assert made == whole
    assert make_diff("a", before.text, after.text) == make_diff("a", text, whole.file.text)


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (Edit(1, ("line 7",), ("seven", "7")), "line 7\r\n", "seven\r\n7\r\n"),
        (Edit(1, ("line 200", ""), ("end",)), "line 200\r\n", "end"),
        (Edit(1, ("line 100",), ()), "line 100\r\n", ""),
        (Edit(1, (), ("more",), "hunk", Grain.LINES, at_end=True), "line 200\r\n", "line 200\r\nmore\r\n"),
    ],
)
def test_bytes_outside_the_edit_stay_and_its_lines_are_counted_in_the_whole_file(edit: Edit, old: str, new: str):
    made, _ = by_parts(TextFile(MANY), [edit])
    assert made.file.text == MANY.replace(old, new)
    assert made.applied == all_or_none(TextFile(MANY), [edit]).applied


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit(1, ("  line 7",), ("x",)), "not in the file"),
        (Edit(1, ("line  7",), ("x",)), "not in the file"),
        (Edit(1, ("line 7",), ("\0",)), ""),
        (Edit(1, ("line",), ("x",)), "many times"),
    ],
)
def test_only_exact_text_has_a_place_and_the_reason_is_said(edit: Edit, why: str):
    with pytest.raises(UnplacedEdits, match=rf"(?s){why}.*exactly the same"):
        by_parts(TextFile(MANY), [edit])
