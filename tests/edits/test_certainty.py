"""Properties of every edit: it goes where it was meant or nowhere, keeps what it does not change, can be taken back."""

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.samples import choose
from tests.tables import for_each

from halocline.edits.edit import Edit, Grain
from halocline.edits.matching.kept_text import keep_text
from halocline.edits.matching.similarity import FOLDS, fold_by_character, folded_trimmed
from halocline.edits.matching.strategies import How
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


OWN, WORDS = ["", " ", "    ", "\t", "\t\t", " \t"], ["alpha(one)", "beta = 'two' - 3", "gamma \u201cfour\u201d"]
LOSSES = {
    "as it is": lambda lines: lines,
    "blanks at line ends": lambda lines: [f"{line} " for line in lines],
    "no margin of the first line": lambda lines: [lines[0].lstrip(), *lines[1:]],
    "no margins": lambda lines: [line.lstrip() for line in lines],
    "more margin": lambda lines: [f"    {line}" for line in lines],
    "tabs as blanks": lambda lines: [line.replace("\t", "    ") for line in lines],
    "blanks as tabs": lambda lines: [line.replace("    ", "\t") for line in lines],
    "other marks": lambda lines: [line.replace("'", "\u2019").replace("-", "\u2013") for line in lines],
    "plain marks, no margins": lambda lines: [
        line.lstrip().replace("\u201c", '"').replace("\u201d", '"') for line in lines
    ],
    "another middle": lambda lines: [lines[0], lines[1].replace("two", "too"), *lines[2:]],
}


@pytest.mark.slow
@for_each("margins, loss, end", [*product(product(OWN, repeat=3), LOSSES, ["", "  "])])
def test_a_changed_word_changes_only_itself_whatever_margins_the_block_has(margins, loss, end):
    lines = [f"{margin}{word}{end}" for margin, word in zip(margins, WORDS, strict=True)]
    for grain, (old, new) in product(Grain, [("one", "ONE"), ("four", "FOUR")]):
        search = LOSSES[loss](lines)
        replace = LOSSES[loss]([line.replace(old, new) for line in lines])
        whole = [lines[0].replace(old, new), *replace[1:]]  # only its first line has the margin of the file
        for written in (replace, whole) if loss == "no margin of the first line" else (replace,):
            edit = Edit(1, tuple(search), tuple(written), grain=grain)
            with suppress(EditError):
                after = all_or_none(TextFile("\n".join(["", *lines, ""])), [edit])
                assert after.file.text == "\n".join(["", *lines, ""]).replace(old, new), (grain, after.applied[0].how)


def test_every_strategy_is_tried_with_these_margins():
    ways = set()
    for margins, loss in product(product(OWN, repeat=3), LOSSES.values()):
        lines = [f"{margin}{word}" for margin, word in zip(margins, WORDS, strict=True)]
        edit = Edit(1, (*loss(lines),), (*loss([line.replace("four", "FOUR") for line in lines]),))
        with suppress(EditError):
            ways.add(all_or_none(TextFile("\n".join(lines)), [edit]).applied[0].how)
    assert ways == {*How} - {How.INSERTED, How.WHOLE_FILE}


PAIRS = [(chr(own), plain or "") for own, plain in FOLDS.items() if chr(own) != plain]
PAIRS += [("\u00a0", " "), ("\u2003", " "), ("e\u0301", "\u00e9"), ("\ufb01", "fi"), ("\uff1a", ":")]


@for_each("own, plain", PAIRS)
def test_a_look_alike_stays_wherever_the_edit_does_not_change_it(own, plain):
    kept = 0
    for line, at in product(["say it now", "  it's [so] far"], range(14)):
        there, written = (f"{line[:at]}{mark}{line[at:]}" for mark in (own, plain))
        for old, new in ("it", "that"), ("ow", "ever"), ("far", ""), (" ", "  "):
            if old not in there or there.index(old) - written.index(old) not in (0, len(own) - len(plain)):
                continue  # the look-alike is in what changes
            edit = Edit(1, (written,), (written.replace(old, new, 1),), grain=Grain.LINES)
            with suppress(EditError):
                after = all_or_none(TextFile(f"top\n{there}\nend\n"), [edit]).file.text
                assert after.count(own) == there.count(own), (there, written, old)
                if old != " ":
                    assert after == f"top\n{there.replace(old, new, 1)}\nend\n"
                kept += 1
    assert kept > 30


@pytest.mark.slow
@for_each("lines, words, others", [(2_000, 8, False), (90, 60, True), (1, 900, False), (1, 5_000, True)])
def test_look_alikes_of_long_parts_stay_or_the_edit_is_refused(lines, words, others):
    there = [" ".join(f"it\u2019s{i}-{j}-{j % 7}" for j in range(words)) for i in range(lines)]
    written = [line.replace("\u2019", "'") for line in there]
    replace = [line.replace("-3 ", "-4 ") for line in written] + ["another"] * others
    with suppress(EditError):
        after = all_or_none(TextFile("\n".join(["top", *there])), [Edit(1, tuple(written), tuple(replace))]).file.text
        assert after.count("\u2019") == lines * words


MARKS = {
    "'": "’'",
    "-": "–-",
    '"': "“”",
    "...": ["…"],
    " ": "\u00a0 ",
    "": ["", "\u200b"],
    "fi": ["ﬁ"],
    "é": ["e\u0301"],
}
PARTS = st.lists(st.sampled_from([*MARKS, "a", "word", "\t"]), max_size=10)


@given(PARTS, st.lists(st.sampled_from(["x", "'", "“", "\n", "...", "–", None]), max_size=10), st.randoms())
@settings(max_examples=choose(400, 80))
def test_what_keeps_the_characters_of_the_file_reads_as_the_replacement(parts, mixed, random):
    there = "".join(random.choice(MARKS.get(part, [part])) for part in parts)
    new = [random.choice([part, one, part + one]) if one else part for part, one in zip(parts, mixed, strict=False)]
    replace = "".join([*new, *parts[len(mixed) :]]).split("\n")
    kept = keep_text(["".join(parts)], [there], replace)
    assert [fold_by_character(line)[0] for line in kept] == [fold_by_character(line)[0] for line in replace]
    assert keep_text(["".join(parts)], [there], ["".join(parts)]) == (there,)
