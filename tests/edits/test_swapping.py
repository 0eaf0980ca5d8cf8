import pytest

from halocline.edits.diff import make_diff
from halocline.edits.swapping import DoesNotFit, swap_hunks

OLD = "".join(f"{n}\n" for n in range(1, 41))
NEW = OLD.replace("5\n", "five\nhalf\n", 1).replace("30\n", "thirty\n").replace("39\n", "")


def diff(old: str | None, new: str | None) -> str:
    return make_diff("a", old, new).text


@pytest.mark.parametrize(
    ("old", "new"), [(OLD, NEW), ("", "a\nb\n"), ("a\nb", "a\nc"), ("a\nb\n", "a\nb"), ("x\n", ""), ("a", "a\n")]
)
def test_what_a_diff_changed_is_taken_back_and_made_again(old: str, new: str) -> None:
    assert swap_hunks(new, diff(old, new), back=True) == old
    assert swap_hunks(old, diff(old, new), back=False) == new


def test_one_hunk_of_several_is_taken_back_and_made_again_where_it_stands_now() -> None:
    head, *hunks = diff(OLD, NEW).split("@@ -")
    second = f"{head}@@ -{hunks[1]}"
    without = swap_hunks(NEW, second, back=True)
    assert without == NEW.replace("thirty\n", "30\n")
    assert swap_hunks(without, second, back=False) == NEW
    assert swap_hunks(f"new\n{NEW}", second, back=True) == f"new\n{without}"


def test_nothing_is_changed_where_the_text_is_another_or_the_place_is_not_certain() -> None:
    with pytest.raises(DoesNotFit):
        swap_hunks(NEW.replace("thirty", "dreissig"), diff(OLD, NEW), back=True)
    with pytest.raises(DoesNotFit):
        swap_hunks("x\n\n" + "a\nc\n" * 2, diff("a\nb\n", "a\nc\n"), back=True)
    with pytest.raises(DoesNotFit):
        swap_hunks(NEW, "\n".join(diff(OLD, NEW).split("\n")[:6]), back=True)
