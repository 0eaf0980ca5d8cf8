"""Properties of every edit: it goes where it was meant or nowhere, keeps what it does not change, can be taken back."""

from contextlib import suppress

import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.samples import choose

from halocline.edits.edit import Edit, Grain
from halocline.edits.matching.similarity import folded_trimmed
from halocline.edits.plan import all_or_none
from halocline.edits.text import EditError, TextFile

WORD = st.sampled_from(["a", "b = 1", "}", "if x:", "it's", "it’s", "return a", "", "a – b", "a - b"])
MARGIN = st.sampled_from(["", "  ", "    ", "\t", "      "])
LINE = st.builds(lambda margin, word: (margin + word) if word else "", MARGIN, WORD)
FILE = st.lists(LINE, min_size=1, max_size=12)
DRIFT = st.sampled_from(
    [
        lambda line: line,
        lambda line: f"{line} ",
        lambda line: f"  {line}" if line else line,
        lambda line: line.replace("’", "'").replace("–", "-"),
        lambda line: line.replace("'", "‘"),
        lambda line: line.removeprefix("  "),
        lambda line: line.replace("\t", "    "),
        str.strip,
    ]
)
ENDINGS = st.lists(st.sampled_from(["\n", "\r\n"]), min_size=12, max_size=12)


def joined(lines: list[str], endings: list[str]) -> str:
    return "".join(map("".join, zip(lines, endings, strict=False)))


@st.composite
def drifted(draw):
    """A file, a part of it as a model remembers it, and the line of that part which it changes."""
    lines = draw(FILE)
    first = draw(st.integers(0, len(lines) - 1))
    end = draw(st.integers(first + 1, len(lines)))
    line = draw(st.integers(first, end - 1))
    drift = draw(DRIFT)
    grain = draw(st.sampled_from([Grain.LINES, Grain.WORDS]))
    return lines, first, end, line, drift, grain


@given(drifted(), ENDINGS)
@settings(max_examples=choose(400, 80))
@pytest.mark.slow
def test_an_edit_goes_to_the_one_place_that_was_meant_or_is_refused(case, endings):
    lines, first, end, line, drift, grain = case
    wanted = [folded_trimmed(text) for text in lines]
    places = [i for i in range(len(lines)) if wanted[i : i + end - first] == wanted[first:end]]
    assume(places == [first] and any(wanted[first:end]))
    search = tuple(drift(text) for text in lines[first:end])
    new = drift(lines[line]) + "!"
    replace = (*search[: line - first], new, *search[line - first + 1 :])
    file = TextFile(joined(lines, endings))
    with suppress(EditError):
        after = all_or_none(file, [Edit(1, search, replace, grain=grain)]).file
        got, was = after.text.splitlines(keepends=True), file.text.splitlines(keepends=True)
        assert got[:line] + got[line + 1 :] == was[:line] + was[line + 1 :]
        assert got[line].strip().endswith("!")


@pytest.mark.slow
@given(FILE, ENDINGS, st.data())
def test_taking_an_edit_back_restores_the_bytes(lines, endings, data):
    first = data.draw(st.integers(0, len(lines) - 1))
    search = tuple(lines[first : data.draw(st.integers(first + 1, len(lines)))])
    assume(any(search))
    replace = tuple(
        data.draw(st.lists(st.sampled_from(["new", "  newer", "newest\t"]), min_size=1, max_size=4, unique=True))
    )
    file = TextFile(joined(lines, [endings[0]] * 12))
    with suppress(EditError):
        after = all_or_none(file, [Edit(1, search, replace, grain=Grain.LINES)]).file
        assert all_or_none(after, [Edit(1, replace, search, grain=Grain.LINES)]).file == file


@given(FILE, ENDINGS, st.lists(st.tuples(FILE, FILE), min_size=1, max_size=3), st.sampled_from(list(Grain)))
def test_any_edit_is_applied_or_refused_and_never_breaks(lines, endings, pairs, grain):
    file = TextFile(joined(lines, endings))
    edits = [Edit(i, tuple(a), tuple(b), grain=grain) for i, (a, b) in enumerate(pairs, 1)]
    with suppress(EditError):
        report = all_or_none(file, edits).applied
        assert all(str(one) for one in report)
    assert file == TextFile(joined(lines, endings))
