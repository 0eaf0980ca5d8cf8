"""The whole texts that edits propose."""

import json

import pytest
from hypothesis import given, strategies as st

from halocline.edits.diff import make_diff
from halocline.edits.edit import Edit
from halocline.edits.formats.blocks import parse_blocks
from halocline.edits.formats.exact import parse_exact
from halocline.edits.formats.patch import parse_patch
from halocline.edits.plan import all_or_none
from halocline.edits.proposals import GrowingProposal, ProposedText, apply_diff, rewrite_arguments
from halocline.edits.text import TextFile

LINES = st.lists(
    st.sampled_from(["a", "b", "    c", "", "------- SEARCH", "+++++++ REPLACE", "=======", "é 🙂"]), max_size=12
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
BLOCK = "------- SEARCH\n{}\n=======\n{}\n+++++++ REPLACE\n"


def write(before: str, edits: list[Edit]) -> str:
    return all_or_none(TextFile(before), edits).file.view


@given(before=st.none() | TEXTS, after=st.none() | TEXTS)
def test_a_diff_that_is_whole_gives_back_the_text_that_it_was_made_of(before: str | None, after: str | None) -> None:
    diff = make_diff("a.txt", before, after)
    if before != after and diff.text:
        assert apply_diff(before, diff) == ProposedText("a.txt", before, after)


def test_a_diff_that_was_cut_gives_nothing() -> None:
    after = "\n".join(f"line {number}" for number in range(400))
    assert apply_diff("", make_diff("a.txt", "", after, 500)) is None


def test_a_diff_of_another_text_gives_nothing() -> None:
    assert apply_diff("c\nd\n", make_diff("a.txt", "a\nb\n", "a\nc\n")) is None


@given(before=TEXTS, after=TEXTS)
def test_a_changed_edit_of_a_part_makes_exactly_the_text_that_the_person_wants(before: str, after: str) -> None:
    found = rewrite_arguments("replace_in_file", {"path": "a.txt", "diff": "…"}, [ProposedText("a.txt", before, after)])
    if found is None:
        return  # refused rather than guessed; the next test says when that must not happen
    assert set(found) == {"path", "old_text", "new_text"}
    assert write(before, parse_exact(str(found["old_text"]), str(found["new_text"]))) == after


def test_a_changed_edit_quotes_only_the_lines_around_the_change() -> None:
    before = "\n".join(f"line {number}" for number in range(1000)) + "\n"
    after = before.replace("line 500\n", "five hundred\n")
    found = rewrite_arguments("replace_in_file", {"path": "a.txt", "diff": "…"}, [ProposedText("a.txt", before, after)])
    assert found
    assert str(found["old_text"]).count("\n") < 10


def test_a_changed_edit_of_a_line_that_stands_twice_quotes_enough_to_be_certain() -> None:
    before = "x = 1\n" * 40
    after = "x = 1\n" * 20 + "x = 2\n" + "x = 1\n" * 19
    found = rewrite_arguments("replace_in_file", {"path": "a.txt", "diff": "…"}, [ProposedText("a.txt", before, after)])
    assert found
    assert write(before, parse_exact(str(found["old_text"]), str(found["new_text"]))) == after


def test_a_changed_patch_makes_exactly_the_texts_of_all_its_files() -> None:
    texts = [
        ProposedText("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n"),
        ProposedText("new.py", None, "fresh\n"),
        ProposedText("old.py", "gone\n", None),
    ]
    found = rewrite_arguments("apply_patch", {"input": "…"}, texts)
    assert found
    update, add, delete = parse_patch(str(found["input"]))
    assert write("one\ntwo\nthree\n", list(update.edits)) == "one\n2\nthree\n"
    assert (add.action, delete.action) == ("add", "delete")


def test_a_patch_that_cannot_say_the_text_is_refused() -> None:
    assert rewrite_arguments("apply_patch", {"input": "…"}, [ProposedText("a", None, "no newline at the end")]) is None


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_growing_file_shows_its_new_lines_above_the_old_ones(size: int) -> None:
    arguments = json.dumps({"path": "a.txt", "content": "1\n2\n3\n"})
    growing, seen = GrowingProposal("write_to_file", {}), []
    for at in range(0, len(arguments), size):
        growing.feed(arguments[at : at + size])
        seen.append(growing.text("a\nb\nc\nd\n"))
    assert growing.path == "a.txt"
    assert seen[-1] == "1\n2\n3\n"
    assert set(seen) <= {None, "a\nb\nc\nd\n", "1\nb\nc\nd\n", "1\n2\nc\nd\n", "1\n2\n3\nd\n", "1\n2\n3\n"}


@pytest.mark.parametrize("size", [1, 7])
def test_a_growing_edit_shows_the_blocks_that_are_complete(size: int) -> None:
    text = BLOCK.format("b", "B") + BLOCK.format("c", "C")
    arguments = json.dumps({"path": "a.txt", "diff": text})
    growing, seen = GrowingProposal("replace_in_file", {}), []
    for at in range(0, len(arguments), size):
        growing.feed(arguments[at : at + size])
        seen.append(growing.text("a\nb\nc\n"))
    assert seen[-1] == write("a\nb\nc\n", parse_blocks(text)) == "a\nB\nC\n"
    assert [text for at, text in enumerate(seen) if text != seen[at - 1]][-3:] == [
        "a\nb\nc\n",
        "a\nB\nc\n",
        "a\nB\nC\n",
    ]
