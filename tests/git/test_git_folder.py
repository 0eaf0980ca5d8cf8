import subprocess
from pathlib import Path

import pytest

from halocline.git.git_folder import find_git_folder, read_branch, read_worktree


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "deep" / "er").mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin: here")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Go on\n\nwith a body")
    return folder


def facts(folder: Path) -> tuple[str, str, str]:
    found = find_git_folder(folder)
    assert found is not None
    return found.branch, found.last_commit, found.remote


def short(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")[:8]


def test_the_branch_and_the_last_commit_are_read_from_each_folder_of_a_repository(repository: Path) -> None:
    for folder in (repository, repository / "deep" / "er"):
        assert facts(folder) == ("main", f"{short(repository)} Go on", "")


def test_a_linked_work_tree_has_its_own_branch_and_the_remote_of_its_repository(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/o/r.git")
    git(repository, "worktree", "add", "-q", "../other", "-b", "side")
    other = repository.parent / "other"
    git(other, "commit", "-q", "--allow-empty", "-m", "Aside")
    assert facts(other) == ("side", f"{short(other)} Aside", "https://example.org/o/r.git")


@pytest.mark.parametrize("how", [("checkout", "-q", "HEAD~1"), ("reset", "-q", "--hard", "HEAD~1")])
def test_the_last_commit_is_the_one_that_is_checked_out(repository: Path, how: tuple[str, ...]) -> None:
    git(repository, *how)
    assert facts(repository)[1] == f"{short(repository)} (initial): Begin: here"[:8] + " Begin: here"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:ghp_secret@example.org/o/r", "https://example.org/o/r"),
        ("https://token@example.org/o/r", "https://example.org/o/r"),
        ("https://example.org/o/r?private_token=glpat-secret", "https://example.org/o/r"),
        ("git@example.org:o/r.git", "git@example.org:o/r.git"),
        ("/srv/git/r", "/srv/git/r"),
    ],
)
def test_a_remote_is_told_without_the_account_in_its_address(repository: Path, url: str, shown: str) -> None:
    git(repository, "remote", "add", "other", "https://other.example/x")
    git(repository, "remote", "add", "origin", url)
    assert facts(repository)[2] == shown


@pytest.mark.parametrize(
    "head", ["root:x:0:0:root", "ref: refs/heads/a\nb", "ref: refs/heads/" + "x" * 5000, "", "ref: refs/heads/a b"]
)
def test_a_head_that_is_none_is_never_told(repository: Path, head: str) -> None:
    (repository / ".git" / "HEAD").write_text(head)
    assert read_branch(str(repository)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "password hunter2-topsecret and more",
        f"{'0' * 40} hunter2-topsecret x <y> 1 +0000\tcommit: x",
        f"{'0' * 40} {'1' * 40}hunter2-topsecret",
        "",
    ],
)
def test_a_log_of_commits_that_is_none_is_never_told(repository: Path, text: str) -> None:
    log = repository / ".git" / "logs" / "HEAD"
    log.unlink()
    (repository / "netrc").write_text(text)
    log.symlink_to(repository / "netrc")
    assert facts(repository)[1] == ""


@pytest.mark.parametrize("place", [".git", ".git/commondir", ".git/HEAD", ".git/config", ".git/logs/HEAD"])
def test_a_name_with_a_nul_is_no_error(repository: Path, place: str) -> None:
    if place == ".git":
        (repository / ".git").rename(repository / "moved")
    (repository / place).write_text("gitdir: a\0b")
    found = find_git_folder(repository)
    assert found is None or (found.branch, found.remote, found.last_commit) is not None


@pytest.mark.parametrize("line", ["url=https://h/x", 'url = "https://h/x"', "\turl  =  https://h/x"])
def test_a_remote_is_read_as_git_reads_it(repository: Path, line: str) -> None:
    (repository / ".git" / "config").write_text(f'[core]\n[remote "origin"]\n{line}\n')
    assert facts(repository)[2] == git(repository, "remote", "get-url", "origin").strip() == "https://h/x"


def test_a_folder_that_is_no_repository_is_passed_by_as_git_does(repository: Path) -> None:
    (repository / "deep" / ".git").mkdir()
    assert facts(repository / "deep")[0] == "main"


def test_where_there_is_no_repository_nothing_is_told(tmp_path: Path) -> None:
    assert read_branch(str(tmp_path)) == ""


def test_a_linked_work_tree_has_a_name_and_no_other_folder_has_one(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "beside"))
    (tmp_path / "beside" / "deep").mkdir()
    assert read_worktree(str(tmp_path / "beside" / "deep")) == "beside"
    for place in (repository, tmp_path, tmp_path / "gone", tmp_path / "a\0b"):
        assert read_worktree(str(place)) == ""
