"""Each repository could make `git status` run a program, or is harmless; real git says which settings it has."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from halocline.git.doubts import Doubts

FILTER = '[filter "y"]\n\tclean = ./x\n'


def doubt(folder: Path) -> str:
    return Doubts(os.environ).of(str(folder))


def append(path: Path, text: str) -> None:
    with open(path, "ab") as file:
        file.write(text.encode())


HARMLESS = (
    "[core]\n\tfsmonitor = ./x\n\thooksPath = .husky\n\tpager = ./x\n",
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n',
    "[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n",
    '[alias]\n\tst = status\n[merge "x"]\n\tdriver = ./x\n[branch "main"]\n\tremote = origin\n',
)
RUNS = (
    FILTER,
    '[diff "x"]\n\ttextconv = ./x\n',
    '[DIFF "x"]\ncommand=./x\n',
    "[include]\n\tpath = ../x\n",
    '[includeIf "gitdir:/"]\n\tpath = ../x\n',
    "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n",
    "[core]\n\tworktree = /\n",
    "[core] worktree = /\n",
    "what is this\n",
    '[gpg "ssh"]\n\tdefaultKeyCommand = ./x\n',
    '[lfs "extension.x"]\n\tclean = ./x\n',
    "[blame]\n\tignoreRevsFile = /etc/hostname\n",
    "[blame]\n\tignoreRevsFile = ../../x\n",
    "[core]\n\texcludesFile = ~/.netrc\n",
    # What a grammar of our own did not read as git does.
    f"[a]\n\tx = a\\\\\n{FILTER}",
    f"# note \\\n{FILTER}",
    f"; note \\\n{FILTER}",
    *(f"[a]\n\tq = a{mark}[core]\n{FILTER}" for mark in ("\f", "\v", "\r", "\x1c", "\x85", "\u2028", "\u2029")),
    '[filter "lfs"]\n\tclean = "git-lfs clean -- %f; touch x"\n',
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tclean = ./x\n',
    '[filter "y"] clean = ./x\n',
    "[filter.y]\n\tclean = ./x\n",
    f"\ufeff{FILTER}",
    '[filter "y"]\n\tcle\\\nan = ./x\n',
)


@pytest.mark.parametrize("config", HARMLESS)
def test_what_a_looking_git_does_not_run_raises_no_doubt(repository: Path, config: str) -> None:
    append(repository / ".git/config", config)
    assert doubt(repository) == ""


@pytest.mark.parametrize("config", RUNS)
def test_settings_by_which_it_may_run_programs_are_doubted(repository: Path, config: str) -> None:
    append(repository / ".git/config", config)
    assert doubt(repository)


def test_the_persons_own_settings_raise_no_doubt(repository: Path, home: Path) -> None:
    append(home / ".gitconfig", '[filter "mine"]\n\tclean = ./x\n[include]\n\tpath = more\n')
    assert doubt(repository) == ""


def test_a_harmless_value_elsewhere_does_not_stand_for_the_one_that_counts(repository: Path) -> None:
    append(repository / ".git/config", '[filter "lfs"]\n\tclean = ./x\n')
    harmless = '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n'
    (repository / ".git/modules/m").mkdir(parents=True)
    (repository / ".git/modules/m/HEAD").write_text("ref: refs/heads/main\n")
    (repository / ".git/modules/m/config").write_text(harmless)
    (repository / ".git/config.worktree").write_text(harmless)
    assert doubt(repository)


def test_an_empty_git_folder_does_not_hide_the_repository_above(repository: Path) -> None:
    append(repository / ".git/config", FILTER)
    (repository / "sub/.git").mkdir(parents=True)
    assert doubt(repository / "sub")


def test_settings_of_one_work_tree_count_where_git_reads_them(repository: Path) -> None:
    append(repository / ".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n")
    assert doubt(repository) == ""
    (repository / ".git/config.worktree").write_text(FILTER)
    assert doubt(repository)


@pytest.fixture
def within(repository: Path, git: Callable[..., str]) -> Path:
    """A repository within, of which the outer one knows."""
    folder = repository / "sub"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "c.txt").write_text("c\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Within")
    git(repository, "add", "sub")
    return folder


def test_a_repository_within_is_doubted_for_what_is_switched_off_in_the_outer_one(
    repository: Path, within: Path
) -> None:
    assert doubt(repository) == ""
    append(within / ".git/config", "[core]\n\tfsmonitor = ./x\n")
    assert f"nested at {within}" in doubt(repository)


def test_a_repository_within_one_within_is_looked_at(repository: Path, within: Path, git: Callable[..., str]) -> None:
    deep = within / "deep"
    git(within, "clone", "--quiet", ".", "deep")
    git(within, "add", "deep")
    assert doubt(repository) == ""
    append(deep / ".git/config", FILTER)
    assert doubt(repository)


def test_a_submodule_and_a_further_work_tree_are_as_good_as_their_repository(
    repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(repository), str(other))
    git(other, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "libs/m")
    git(other, "worktree", "add", "--quiet", "--detach", str(tmp_path / "further"))
    for folder in (other, other / "libs/m", tmp_path / "further"):
        assert doubt(folder) == ""
    append(other / ".git/modules/libs/m/config", FILTER)
    assert [bool(doubt(folder)) for folder in (other, other / "libs/m", tmp_path / "further")] == [True, True, False]
    append(other / ".git/config", FILTER)
    assert doubt(tmp_path / "further")


def leads_by_a_file(fake: Path, victim: Path) -> None:
    (fake / ".git").write_text(f"gitdir: {victim}/.git\n")


def leads_by_a_link(fake: Path, victim: Path) -> None:
    (fake / ".git").symlink_to(victim / ".git")


def leads_by_a_common_folder(fake: Path, victim: Path) -> None:
    (fake / ".git").mkdir()
    (fake / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (fake / ".git/commondir").write_text(f"{victim}/.git\n")


def leads_by_links_within(fake: Path, victim: Path) -> None:
    (fake / ".git").mkdir()
    (fake / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (fake / ".git" / name).symlink_to(victim / ".git" / name)


def leads_by_a_folder_that_names_it(fake: Path, victim: Path) -> None:
    (fake / "g").mkdir()
    (fake / "g/HEAD").write_text("ref: refs/heads/main\n")
    (fake / "g/commondir").write_text(f"{victim}/.git\n")
    (fake / "g/gitdir").write_text(f"{fake}/.git\n")
    (fake / ".git").write_text("gitdir: g\n")


@pytest.mark.parametrize(
    "leads",
    [
        leads_by_a_file,
        leads_by_a_link,
        leads_by_a_common_folder,
        leads_by_links_within,
        leads_by_a_folder_that_names_it,
    ],
)
def test_the_history_of_another_folder_is_doubted(
    repository: Path, tmp_path: Path, leads: Callable[[Path, Path], None]
) -> None:
    fake = tmp_path / "fake"
    fake.mkdir()
    leads(fake, repository)
    assert doubt(fake)


def test_settings_that_never_end_are_doubted(repository: Path) -> None:
    (repository / ".git/config").unlink()
    os.mkfifo(repository / ".git/config")
    assert "config is a named pipe, not a regular file; move it away or delete it" in doubt(repository)


def test_an_answer_is_kept_until_something_changes(repository: Path, tmp_path: Path) -> None:
    real, asked = shutil.which("git"), tmp_path / "asked"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f'#!/bin/sh\necho "$1" >>{asked}\nexec {real} "$@"\n')
    (tmp_path / "bin/git").chmod(0o755)
    doubts = Doubts({"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": os.environ["HOME"]})
    while time.time() - os.lstat(repository / ".git/index").st_ctime < 0.2:
        time.sleep(0.05)
    assert [doubts.of(str(repository)) for _ in range(5)] == [""] * 5
    assert asked.read_text().split() == ["rev-parse", "config"]
    append(repository / ".git/config", FILTER)
    assert doubts.of(str(repository))
    assert asked.read_text().split() == ["rev-parse", "config"] * 2


def test_outside_of_repositories_nothing_is_doubted(tmp_path: Path) -> None:
    assert doubt(tmp_path) == ""
