"""Patterns of a model or of a repository's ignore files: they mean what git says, and hold no process."""

import signal
import subprocess
from contextlib import contextmanager

import pytest
from hypothesis import given, settings, strategies as st
from pathspec import GitIgnoreSpec
from tests.files.counted_steps import CountedMatch
from tests.samples import choose
from tests.tables import for_each

from halocline.files.patterns import _build_spec, find_match, matches_any

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


NAMES = ["a", "b", "*", "a*", "*b", "?", "[ab]", "*a*b"]
FOLDERS = st.lists(st.sampled_from([*NAMES, *["**"] * 5]), min_size=1, max_size=8).map("/".join)
"""Patterns of several names, most of them with several `**`."""
PATTERNS = st.builds("{}{}{}".format, st.sampled_from(["", "", "/"]), FOLDERS, st.sampled_from(["", "", "/"]))


@settings(max_examples=choose(2_000, 200))
@given(PATTERNS, st.lists(st.sampled_from(["a", "b", "ab", "aab"]), min_size=1, max_size=8).map("/".join))
def test_a_pattern_with_several_double_stars_means_what_pathspec_says(pattern, path):
    plain = GitIgnoreSpec.from_lines([pattern])
    for one in (path, f"{path}/"):
        assert find_match((pattern,), one) == plain.check_file(one).include


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with all folders of up to four names out of two, each with two files."""
    top = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    folders = [""]
    for folder in folders:
        folders += [f"{folder}{name}/" for name in "ab"] if folder.count("/") < 4 else []
    for path in (paths := [f"{folder}{name}" for folder in folders for name in ("ab", "c")]):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    return top, paths


@pytest.mark.process
@settings(max_examples=choose(500, 60))
@given(PATTERNS.filter(lambda one: not one.endswith("/**/")))  # to pathspec, `a/**/` is also the files in `a`
def test_a_pattern_ignores_what_git_ignores(repository, pattern):
    top, paths = repository
    (top / ".git/info/exclude").write_text(f"{pattern}\n")
    asked = subprocess.run(
        ["git", "check-ignore", "--stdin"], cwd=top, input="\n".join(paths), capture_output=True, text=True
    )
    assert [path for path in paths if find_match((pattern,), path)] == asked.stdout.split()


def count_steps(pattern, path):
    (built,) = _build_spec((pattern,)).patterns
    return CountedMatch(built.regex.pattern, path).steps


@settings(max_examples=choose(1_000, 100))
@given(PATTERNS, st.lists(st.sampled_from(["a", "b", "ab", "aab"]), min_size=1, max_size=8).map("/".join))
def test_steps_are_counted_on_what_re_does(pattern, path):
    (built,) = _build_spec((pattern,)).patterns
    found = built.regex.match(path)
    assert CountedMatch(built.regex.pattern, path).end == (found.end() if found else None)


@for_each(
    "pattern",
    [
        "**/a/**/a/**/a/**/b",
        "/a/**/a/**/a/**/a/**/a/**/a/b",
        "**/*a*/**/a*/**/*a*a*/**/?/a/**/b/",
        "**/a/a/a/**/a/a/a/**/a/a/b/**",
        "/".join(["**/*"] * 20) + "/b",
        "*a" * 12 + "*c",
    ],
)
@for_each("names", [["a"], ["aa"], ["a", "aaa"], ["a" * 40]])
def test_a_path_twice_as_long_takes_at_most_four_times_the_steps(pattern, names):
    steps = [count_steps(pattern, "/".join(names * count)) for count in (40, 80, 160)]
    assert steps[1] <= 4 * steps[0]
    assert steps[2] <= 4 * steps[1]
    assert steps[2] <= 2 * len(pattern) * len("/".join(names * 160))


@settings(max_examples=choose(500, 60))
@given(PATTERNS, st.lists(st.sampled_from(["a", "ab"]), min_size=40, max_size=40).map("/".join))
def test_no_pattern_takes_more_steps_than_its_length_times_that_of_the_path(pattern, path):
    assert count_steps(pattern, path) <= 4 * (len(pattern) + 10) * len(path)
