from pathlib import Path

from halocline.context.notes.diagnostics import MOST_TOLD, note_new_problems, note_problems, note_shown_problems
from halocline.ports.diagnostics import Problem

HERE = Path("/work")


def problem(line=1, message="wrong", path="a.py"):
    return Problem(HERE / path, line, "x = y", message, "E1", "checker")


def test_new_errors_are_told_with_place_line_and_who_says_so():
    note = note_new_problems([problem(), problem(7, "also\n\u00a0 wrong", "/else/b.py")], HERE)
    assert note.source == "diagnostics"
    assert note.text.split("\n") == [
        "This edit introduced 2 errors:",
        "a.py:1 | x = y",
        "  wrong (checker E1)",
        "/else/b.py:7 | x = y",
        "  also wrong (checker E1)",
    ]


def test_what_is_told_is_bounded_in_number_and_length():
    lines = note_new_problems([problem(at, "m" * 5_000) for at in range(100)], HERE).text.split("\n")
    assert lines[-1] == f"and {100 - MOST_TOLD} more"
    assert max(map(len, lines)) < 400
    assert len(lines) == 2 + 2 * MOST_TOLD


def test_what_an_editor_shows_is_told_with_its_warnings_and_no_empty_parts():
    warning = Problem(HERE / "b.py", 2, "", "unused", is_warning=True)
    assert note_shown_problems([problem(), warning], HERE).text.split("\n") == [
        "The editor shows 1 error and 1 warning:",
        "a.py:1 | x = y",
        "  wrong (checker E1)",
        "b.py:2",
        "  warning: unused",
    ]
    assert note_shown_problems([], HERE).text == "The editor shows no errors or warnings."


def test_no_errors_and_nothing_known_are_different():
    assert note_problems((), HERE).text.startswith("No errors")
    assert note_problems(None, HERE).text.startswith("Unknown: no language server")
    assert note_problems((problem(),), HERE).text.startswith("1 error:\na.py:1")
