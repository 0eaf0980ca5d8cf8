"""Patterns of a model or of a repository's ignore files: they mean what pathspec says, and hold no process."""

import signal
from contextlib import contextmanager

from hypothesis import given, settings, strategies as st
from pathspec import GitIgnoreSpec
from tests.samples import choose
from tests.tables import for_each

from halocline.files.patterns import find_match, matches_any

PIECES = [
    "*",
    "?",
    "a",
    "b",
    "ab",
    ".",
    "[ab]",
    "[!a]",
    "[]a]",
    "[^/]",
    "\\*",
    "\\[",
    "(",
    "+",
    "|",
    "é",
    "-",
    "/",
    "**",
]
LONG = ("a" * 250, "ab" * 120, "a.b" * 80, "/".join(["a" * 100] * 4))


@contextmanager
def at_most(seconds: int):
    """End what takes longer: an expression that tries everything would take years."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@for_each("pattern", ["*a" * 12 + "*c", "*?b" * 9 + "c", "*[ab]" * 12 + "[c]", "*" * 60 + "c", "src/*a*a*a*a*a*a*a*c"])
def test_no_pattern_holds_the_process_over_a_long_name(pattern):
    with at_most(20):
        for name in LONG:
            assert not matches_any((pattern,), name)
            assert find_match((pattern,), name) is None


@settings(max_examples=choose(1_000, 100))
@given(st.lists(st.sampled_from(PIECES), max_size=7), st.lists(st.sampled_from("aab.()+|é-[]*"), max_size=9))
def test_a_pattern_means_what_it_meant(pieces, letters):
    pattern, name = "".join(pieces), "".join(letters)
    try:
        plain = GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return
    assert matches_any((pattern,), name) == (plain.match_file(name) or plain.match_file(f"{name}/"))
