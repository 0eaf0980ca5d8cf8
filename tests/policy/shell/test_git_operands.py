import shutil

import pytest
from tests.policy.shell.canaries import Scratch
from tests.policy.shell.every_flag import place

pytestmark = pytest.mark.process


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path / "s", (".env",))


def test_revisions_and_paths_stand_on_the_two_sides_of_two_dashes(scratch):
    def form(line):
        text = scratch.judge(line).canonical or ""
        return (
            text.removeprefix("git --no-pager ")
            .replace("--no-ext-diff --no-textconv ", "")
            .partition(" ':(top,excl")[0]
        )

    assert form("git diff HEAD~1 a.txt sub") == "diff 'HEAD~1^{commit}' -- a.txt sub"
    assert form("git log --oneline HEAD~1..HEAD -- a.txt") == "log --oneline 'HEAD~1..HEAD' -- a.txt"
    assert form("git log --not HEAD~1 --all") == "log --not 'HEAD~1' --all --"
    assert form("git grep -n KEY HEAD sub") == "grep -n KEY 'HEAD^{commit}' -- sub"
    assert form("git blame HEAD~1 a.txt") == "blame 'HEAD~1' -- a.txt"
    assert form("git diff '*.txt' ':!sub'") == "diff -- '*.txt' ':!sub'"
    assert form("git show abc1234") == "show --full-history --sparse 'abc1234^{commit}' --"
    assert form("git stash show -p 1") == "diff -p 'stash@{1}^^{commit}' 'stash@{1}^{commit}' --"
    assert form("git status -s") == "status -s --"


@pytest.mark.parametrize("line", ["git diff HEAD:a.txt HEAD:b.txt", "git log -p --follow sub", "git show 'abc1234^{}'"])
def test_what_can_leave_nothing_out_asks(scratch, line):
    assert scratch.judge(line).verdict == "ask"


@pytest.mark.parametrize("line", ["git diff --stat . sub", "git diff --name-only . ./", "git diff --stat -- sub $PWD"])
def test_two_paths_that_git_may_compare_without_the_index_leave_out_secrets(scratch, line):
    assert ":(top,exclude" in scratch.judge(line).canonical


def test_a_name_with_a_colon_is_judged_as_a_path_and_as_a_revision(scratch):
    (scratch.folder / "smb:share").mkdir()
    (scratch.folder / "smb:share" / "doc").write_text("x\n")
    for line in ("git diff ../smb:share/doc a.txt", "git show HEAD:.env", "git show HEAD:../x", "git show :0:.env"):
        assert scratch.judge(line).verdict == "ask"
        assert scratch.judge(line).canonical is None


def test_git_shows_the_same_commits_as_without_exclusions(scratch):
    line = "git log -p --format=%s"
    with_all, without = scratch.run([line, scratch.judge(line).canonical or ""])
    subjects = [text for text in with_all.splitlines() if text in (b"one", b"two")]
    assert [text for text in without.splitlines() if text in (b"one", b"two")] == subjects == [b"two", b"one"]
    assert b"KEY=" in with_all
    assert b"KEY=" not in without


def test_no_two_files_are_compared_in_a_folder_that_is_no_repository_unless_both_were_judged(scratch):
    shutil.rmtree(scratch.workspace / ".git")
    lines = [
        f"git diff {flags} {first} {second}"
        for flags in ("", "-U3", "-U", "--stat", "--", "-M", "--no-index", "HEAD")
        for first in ("a.txt", "OUTSIDE", "../out/o.txt", ".env", "link", "-")
        for second in ("b.txt", "OUTSIDE", ".env", "sub")
    ]
    judged = [scratch.judge(place(line, scratch)) for line in lines]
    forms = [one.canonical for one in judged if one.verdict == "allow" and one.canonical]
    assert len(forms) > 5
    assert scratch.leaks(forms) == []


@pytest.mark.parametrize("line", ["cat .*/*/*", "grep KEY .*/*/*", "head -n1 .*/out/*", "grep -r KEY .*"])
def test_a_pattern_with_a_dot_in_front_never_stands_for_the_folder_above(scratch, line):
    old_bash = "shopt -u globskipdots; "
    assert scratch.leaks([old_bash + line]) != []
    (scratch.workspace / ".env").unlink()
    for kept in ("objects", "logs"):  # these ask
        shutil.rmtree(scratch.workspace / ".git" / kept, ignore_errors=True)
    form = scratch.judge(line).canonical
    assert form is not None
    assert scratch.leaks([old_bash + form]) == []


def test_an_odd_pattern_that_may_stand_for_the_folder_above_asks(scratch):
    assert {scratch.judge(line).verdict.value for line in ("cat .?/out/*", "cat .[.]/out/*", "cat ..*/out/*")} == {
        "ask"
    }
