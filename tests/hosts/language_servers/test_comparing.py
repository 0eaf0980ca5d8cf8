from pathlib import Path

from hypothesis import given, strategies as st

from halocline.hosts.language_servers.diagnostics import (
    MOST_KEPT,
    Diagnostic,
    Position,
    Range,
    new_errors,
    select_errors,
)
from halocline.ports.diagnostics import Problem

A = Path("/a.py")
problems = st.lists(st.builds(Problem, st.just(A), st.integers(1, 5), st.sampled_from("xy"), st.sampled_from("mn")))


def said(line, severity=1, message="no"):
    return Diagnostic(Range(Position(line)), message, severity)


def test_errors_alone_count_and_one_without_severity_is_an_error():
    found = select_errors(A, ["a", " b ", "c"], [said(2, None), said(0, 2), said(1), said(1)], "s")
    assert [(one.line, one.text, one.source) for one in found] == [(2, "b", "s"), (3, "c", "s")]


def test_a_line_that_is_not_there_has_no_text():
    assert [(one.line, one.text) for one in select_errors(A, ["a"], [said(9), said(-3)], "s")] == [(1, "a"), (10, "")]


def test_a_message_with_markup_and_one_without_end_are_understood():
    (found,) = select_errors(A, ["a"], [said(0, message={"kind": "markdown", "value": "m" * 9_000})], "s")
    assert len(found.message) < 500


def test_no_more_than_a_bounded_number_is_kept():
    assert len(select_errors(A, ["a"], (said(0, message=str(at)) for at in range(10_000)), "s")) == MOST_KEPT


@given(problems)
def test_what_was_there_before_is_not_new(old):
    assert new_errors(old, old[::-1]) == ()


@given(problems, problems)
def test_as_many_are_new_as_were_added(old, more):
    assert len(new_errors(old, [*old, *more])) == len(more)


@given(problems, st.integers(-3, 3))
def test_a_problem_that_moved_is_not_new(old, by):
    moved = [Problem(one.path, one.line + by, one.text, one.message) for one in old]
    assert new_errors(old, moved) == ()
