from collections.abc import Collection

import pytest

from halocline.edits.diff import make_diff
from halocline.edits.proposals import ProposedText, list_hunks, take_hunks

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 3\n", "three\n").replace("line 15\n", "fifteen\nmore\n").replace("line 28\n", "")


def text_of(taken: Collection[int]) -> str | None:
    texts, diffs = [ProposedText("a", OLD, NEW)], [make_diff("a", OLD, NEW)]
    return take_hunks(texts, diffs, taken).get("a", NEW)


def test_hunks_have_the_line_and_the_text_of_their_first_change() -> None:
    found = list_hunks([make_diff("a", OLD, NEW)])
    assert [(hunk.line, hunk.added, hunk.removed) for hunk in found] == [(3, 1, 1), (15, 2, 1), (28, 0, 1)]
    assert found[1].lines == ("-line 15", "+fifteen", "+more")


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        ((), OLD),
        ((0, 1, 2), NEW),
        ((1,), OLD.replace("line 15\n", "fifteen\nmore\n")),
        ((0, 2), OLD.replace("line 3\n", "three\n").replace("line 28\n", "")),
    ],
)
def test_a_file_has_only_the_hunks_that_were_taken(taken: tuple[int, ...], text: str) -> None:
    assert text_of(taken) == text


def test_each_file_of_an_edit_has_its_own_hunks_and_a_new_one_is_there_or_not() -> None:
    texts = [ProposedText("a", OLD, NEW), ProposedText("new", None, "hello\n")]
    diffs = [make_diff(text.path, text.before, text.after) for text in texts]
    assert [hunk.path for hunk in list_hunks(diffs)] == ["a", "a", "a", "new"]
    assert take_hunks(texts, diffs, {0, 1, 2}) == {"new": None}
    assert take_hunks(texts, diffs, {3}) == {"a": OLD}


def test_a_file_without_a_newline_at_its_end_stays_so() -> None:
    old, new = OLD.removesuffix("\n"), NEW.removesuffix("\n") + "!"
    texts, diffs = [ProposedText("a", old, new)], [make_diff("a", old, new)]
    assert take_hunks(texts, diffs, {0}) == {"a": old.replace("line 3\n", "three\n")}
