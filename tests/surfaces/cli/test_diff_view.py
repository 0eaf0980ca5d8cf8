import io

import pytest
from rich.console import Console, Group

from halocline.protocol.kinds import Diff
from halocline.surfaces.terminal.drawing.diff_view import Line, diff_view, find_marks, parse_diff
from halocline.surfaces.terminal.drawing.side_by_side import Pair, pair_lines
from halocline.surfaces.terminal.drawing.theme import THEME, ThemeChoice, find_code_theme

TEXT = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ def f():\n a\n-b\n+c\n d\n@@ -40 +40,2 @@\n e\n+--- f\n"


def drawn(diffs: tuple[Diff, ...], limit: int = 40, width: int = 60, *, whole_lines: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, theme=THEME)
    with console.capture() as capture:
        console.print(Group(*diff_view(diffs, limit, whole_lines=whole_lines)))
    return capture.get()


def test_each_line_carries_its_number_in_the_file_it_belongs_to() -> None:
    assert list(parse_diff(TEXT)) == [
        Line(" ", 9, "a"),
        Line("-", 10, "b"),
        Line("+", 10, "c"),
        Line(" ", 11, "d"),
        Line(" ", None, "⋯"),
        Line(" ", 40, "e"),
        Line("+", 41, "--- f"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("@@ -0,0 +1 @@\n+new\n", Line("+", 1, "new")),
        ("@@ -1 +0,0 @@\n-old\n", Line("-", 1, "old")),
        ("@@ -3 +3 @@\n--- was a comment\n", Line("-", 3, "-- was a comment")),
        ("@@ -3 +3 @@\n\n", Line(" ", 3, "")),
        ("@@ -3 +3 @@\n\\ No newline at end of file\n", Line(" ", None, "no newline at end of file")),
    ],
)
def test_odd_lines_of_a_diff_are_understood(text: str, line: Line) -> None:
    assert list(parse_diff(text)) == [line]


def test_a_long_diff_is_bounded_and_says_how_much_is_hidden() -> None:
    text = "@@ -0,0 +1,50 @@\n" + "".join(f"+line {number}\n" for number in range(50))
    shown = drawn((Diff("x", text),), limit=10).splitlines()
    assert (len(shown), shown[-1]) == (11, "… 40 more lines")


def test_a_long_line_is_cut_for_the_eye_and_wrapped_for_a_decision() -> None:
    diff = Diff("x", "@@ -0,0 +1 @@\n+" + "y" * 100 + "\n")
    assert drawn((diff,)).count("y") < 100
    assert drawn((diff,), whole_lines=True).count("y") == 100


WIDE_TEXT = "@@ -8,5 +8,5 @@\n a\n-old one\n-old two\n+new one\n z\n+last\n"


def test_in_a_wide_terminal_the_old_is_beside_the_new() -> None:
    left, right = zip(
        *(line.split("│") for line in drawn((Diff("x", WIDE_TEXT),), width=120).splitlines()), strict=True
    )
    assert [line.strip() for line in left] == ["8   a", "9 - old one", "10 - old two", "11   z", ""]
    assert [line.strip() for line in right] == ["8   a", "9 + new one", "", "10   z", "11 + last"]


def test_in_two_columns_a_decision_still_shows_long_lines_whole() -> None:
    diff = Diff("x", "@@ -1 +1 @@\n-" + "x" * 150 + "\n+" + "y" * 300 + "\n")
    shown = drawn((diff,), width=140, whole_lines=True)
    assert (shown.count("x"), shown.count("y"), max(map(len, shown.splitlines()))) == (150, 300, 139)


@pytest.mark.parametrize("text", ["@@ -0,0 +1,2 @@\n+a\n+b\n", "@@ -1,2 +0,0 @@\n-a\n-b\n"])
def test_a_file_that_is_new_or_gone_needs_no_second_column(text: str) -> None:
    assert "│" not in drawn((Diff("x", text),), width=160)


@pytest.mark.parametrize(
    ("signs", "pairs"),
    [
        ("  ", [(0, 0), (1, 1)]),
        ("--+", [(0, 2), (1, None)]),
        ("-++", [(0, 1), (None, 2)]),
        ("+-", [(None, 0), (1, None)]),
        ("- +", [(0, None), (1, 1), (None, 2)]),
        ("", []),
    ],
)
def test_each_removed_run_stands_beside_the_added_run_after_it(signs: str, pairs: list[Pair]) -> None:
    assert pair_lines(signs) == pairs


def test_several_files_are_told_apart_by_their_paths() -> None:
    shown = drawn((Diff("one.py", TEXT, 2, 1), Diff("two.py", TEXT, 2, 1)))
    assert "one.py  +2 −1" in shown
    assert "two.py  +2 −1" in shown


def test_the_words_that_changed_are_marked_in_lines_that_replace_each_other() -> None:
    lines = list(parse_diff("@@ -1,2 +1,2 @@\n-return first - second\n-other\n+return first + second\n+thing\n"))
    assert find_marks(lines) == {0: [(13, 14)], 1: (), 2: [(13, 14)], 3: ()}
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=60, theme=THEME)
    with console.capture() as capture:
        console.print(Group(*diff_view((Diff("x", "@@ -1 +1 @@\n-a = one\n+a = two\n", 1, 1),), 9)))
    assert "\x1b[1;4;31mone" in capture.get()
    assert "\x1b[1;4;32mtwo" in capture.get()


def test_added_lines_alone_have_no_marks() -> None:
    assert find_marks(list(parse_diff("@@ -1,0 +1,2 @@\n+one\n+two\n"))) == {}


@pytest.mark.parametrize(("background", "theme"), [((22, 24, 29), "native"), ((255, 255, 255), "xcode")])
def test_on_a_known_background_lines_are_code_on_bands_and_copy_as_before(
    background: tuple[int, int, int], theme: str
) -> None:
    diffs = (Diff("x.py", "@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2  # two\n"),)
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="truecolor", theme=THEME)
    assert find_code_theme(console) == "ansi_dark"
    plain = console.render_lines(Group(*diff_view(diffs, 40)), pad=False)
    ThemeChoice(console).learn_background(background)
    banded = console.render_lines(Group(*diff_view(diffs, 40)), pad=False)
    assert find_code_theme(console) == theme
    assert ["".join(part.text for part in row).rstrip() for row in banded] == [
        "".join(part.text for part in row).rstrip() for row in plain
    ]
    bands = [{part.style.bgcolor for part in row if part.style and part.style.bgcolor} for row in banded]
    assert [len(found) for found in bands] == [0, 2, 2]
    assert all(part.style is None or part.style.bgcolor is None for row in plain for part in row)


def test_a_terminal_of_16_colors_has_no_bands() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="standard", theme=THEME)
    ThemeChoice(console).learn_background((0, 0, 0))
    assert console.get_style("band").bgcolor is None
