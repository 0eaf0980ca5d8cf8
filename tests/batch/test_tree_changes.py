"""The change in a place: what `git apply` makes of it is what is there, and nothing of the place runs."""

import os
import subprocess

import pytest
from tests.batch.conftest import git

from halocline.batch.tree_changes import _FIRST, TreeChanges
from halocline.git.repository import find_repository
from halocline.protocol.errors import HaloclineError

pytestmark = pytest.mark.process


@pytest.fixture
def changes(repository, tmp_path):
    return TreeChanges(repository, tmp_path / "store", repository / ".git" / "objects")


async def test_a_patch_applied_to_the_beginning_makes_the_end(repository, tmp_path, changes):
    (repository / "gone.txt").write_text("x\n")
    (repository / "run.sh").write_text("x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", repository, copy], check=True)
    await changes.note_first(git(repository, "rev-parse", "HEAD"))
    (repository / "gone.txt").unlink()
    (repository / "run.sh").chmod(0o755)
    (repository / "a.txt").write_text("right\nand more\n")
    (repository / "new folder").mkdir()
    (repository / "new folder" / "b ü.bin").write_bytes(bytes(range(256)))
    (repository / "link").symlink_to("a.txt")
    git(repository, "commit", "-qam", "of the task")  # whatever it commits
    change = await changes.read_change()
    assert (change.files, change.added, change.removed) == (5, 3, 2)
    subprocess.run(["git", "apply", "-"], cwd=copy, input=change.patch, check=True)
    names = subprocess.run(["diff", "-r", "-x", ".git", copy, repository], capture_output=True, text=True).stdout
    assert names == ""
    assert os.access(copy / "run.sh", os.X_OK)
    assert (copy / "link").is_symlink()


async def test_what_was_there_uncommitted_is_no_change_where_the_beginning_is_what_is_there(repository, tmp_path):
    (repository / "mine.txt").write_text("mine\n")
    changes = TreeChanges(repository, tmp_path / "store")
    await changes.note_first()
    assert await changes.read_change() == type(await changes.read_change())()
    (repository / "mine.txt").write_text("other\n")
    await changes.note_first()  # the beginning stays
    assert (await changes.read_change()).files == 1


async def test_no_program_that_the_place_names_runs(repository, tmp_path, changes):
    await changes.note_first(git(repository, "rev-parse", "HEAD"))
    canary = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=own diff=own\n")
    settings = ("filter.own.clean", "filter.own.process", "diff.own.textconv", "diff.external", "core.fsmonitor")
    for name in settings:
        git(repository, "config", name, str(program))
    for hook in ("pre-commit", "post-index-change", "reference-transaction"):
        (repository / ".git" / "hooks").mkdir(exist_ok=True)
        (repository / ".git" / "hooks" / hook).symlink_to(program)
    (repository / "a.txt").write_text("right\n")
    change = await changes.read_change()
    assert change.files == 2
    await changes.write_branch(repository, "batch/b/one", git(repository, "rev-parse", "HEAD"), "message")
    assert not canary.exists()


async def test_a_branch_holds_the_change_on_top_of_the_commit(repository, changes):
    first = git(repository, "rev-parse", "HEAD")
    await changes.note_first(first)
    (repository / "a.txt").write_text("right\n")
    for _ in range(2):  # a second attempt moves it
        await changes.read_change()
        await changes.write_branch(repository, "batch/b/one", first, "Mend it\n")
    assert git(repository, "log", "-1", "--format=%s %P", "batch/b/one") == f"Mend it {first}"
    assert git(repository, "show", "batch/b/one:a.txt") == "right"
    assert git(repository, "status", "--porcelain") == "M a.txt"


@pytest.mark.parametrize("theirs", ["batch/b/one", "batch/b/one/more"])
async def test_a_branch_that_was_there_before_is_left_as_it_is_and_named(repository, changes, theirs):
    first = git(repository, "rev-parse", "HEAD")
    await changes.note_first(first)
    git(repository, "branch", theirs, first)
    (repository / "a.txt").write_text("right\n")
    await changes.read_change()
    with pytest.raises(HaloclineError, match="batch/b/one was there before"):
        await changes.write_branch(repository, "batch/b/one", first, "Mend it\n")
    assert git(repository, "rev-parse", theirs) == first


async def test_a_patch_touches_only_what_the_task_touched(repository, tmp_path):
    """Files that are tracked and ignored, submodules, files outside a sparse checkout, and ends of lines stay."""
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-qm", "i", "--allow-empty")
    (repository / ".gitignore").write_text("build/\n")
    (repository / "build").mkdir()
    (repository / "build" / "keep").write_text("kept\n")
    (repository / "gone.txt").write_text("outside the checkout\n")
    (repository / "crlf.txt").write_bytes(b"one\ntwo\n")
    git(repository, "add", "-f", ".")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(repository, "commit", "-qm", "all")
    git(repository, "config", "core.autocrlf", "true")
    (repository / "gone.txt").unlink()
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    commit = git(repository, "rev-parse", "HEAD")
    changes = TreeChanges(repository, tmp_path / "store", repository / ".git" / "objects")
    await changes.note_first(commit, find_repository(repository, os.environ))
    (repository / "new.txt").write_text("new\n")
    change = await changes.read_change()
    assert [line for line in change.patch.decode().splitlines() if line.startswith("diff")] == [
        "diff --git a/new.txt b/new.txt"
    ]
    await changes.write_branch(repository, "batch/b/one", commit, "m")
    names = git(repository, "diff", "--name-status", commit, "batch/b/one")
    assert names == "A\tnew.txt"


async def test_what_the_person_ignores_is_no_change(repository, tmp_path, monkeypatch):
    """Lists beside `.gitignore`: keys are in files that they name, and such files are copied into worktrees."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (tmp_path / "home" / "ignored").write_text("*.key\n")
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text(".env\n")
    changes = TreeChanges(repository, tmp_path / "store", repository / ".git" / "objects")
    (repository / "untracked.txt").write_text("there before\n")
    commit = git(repository, "rev-parse", "HEAD")
    await changes.note_first(commit, find_repository(repository, os.environ))
    for name in (".env", "a.key", "new.txt"):
        (repository / name).write_text("KEY=1\n")
    assert (await changes.read_change()).files == 1
    await changes.write_branch(repository, "batch/b/one", commit, "m")
    assert git(repository, "diff", "--name-only", commit, "batch/b/one") == "new.txt"


@pytest.mark.parametrize("list", [".gitattributes", ".git/info/attributes"])
async def test_files_that_a_filter_changed_are_no_change_and_a_change_of_one_is_no_branch(
    repository, tmp_path, monkeypatch, list
):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".gitconfig").write_text('[filter "up"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n')
    (repository / list).parent.mkdir(exist_ok=True)
    (repository / list).write_text("*.up filter=up\n")
    (repository / "one.up").write_text("one\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "up")
    commit = git(repository, "rev-parse", "HEAD")
    changes = TreeChanges(repository, tmp_path / "store", repository / ".git" / "objects")
    await changes.note_first(commit, find_repository(repository, os.environ))
    assert (await changes.read_change()).files == 0
    (repository / "a.txt").write_text("right\n")
    await changes.read_change()
    await changes.write_branch(repository, "batch/b/one", commit, "m")
    assert git(repository, "show", "batch/b/one:one.up") == "ONE"
    (repository / "one.up").write_text("two\n")
    assert (await changes.read_change()).files == 2
    with pytest.raises(HaloclineError, match=r"one\.up is changed by the filter up"):
        await changes.write_branch(repository, "batch/b/two", commit, "m")


async def test_files_in_the_folder_of_a_submodule_and_moved_ones_are_in_the_branch(repository, tmp_path):
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(repository, "commit", "-qm", "sub")
    commit = git(repository, "rev-parse", "HEAD")
    changes = TreeChanges(repository, tmp_path / "store", repository / ".git" / "objects")
    await changes.note_first(commit)
    (repository / "a.txt").rename(repository / 'new\n"name"\t.txt')
    await changes.read_change()
    await changes.write_branch(repository, "batch/b/one", commit, "m")
    assert git(repository, "ls-tree", "batch/b/one", "sub").startswith("160000")
    (repository / "sub").mkdir()
    (repository / "sub" / "b.txt").write_text("b\n")
    change = await changes.read_change()
    assert (change.files, change.added, change.removed) == (2, 1, 0)
    await changes.write_branch(repository, "batch/b/one", commit, "m")
    assert git(repository, "ls-tree", "-r", "--name-only", "-z", "batch/b/one") == 'new\n"name"\t.txt\0sub/b.txt\0'


async def test_a_repository_with_names_of_the_other_kind_has_changes_and_branches(tmp_path):
    git(tmp_path, "init", "-q", "--object-format=sha256", "other")
    other = tmp_path / "other"
    git(other, "commit", "-q", "--allow-empty", "-m", "first")
    commit = git(other, "rev-parse", "HEAD")
    changes = TreeChanges(other, tmp_path / "store", other / ".git" / "objects")
    await changes.note_first(commit, find_repository(other, os.environ))
    (other / "new.txt").write_text("new\n")
    await changes.read_change()
    await changes.write_branch(other, "batch/b/one", commit, "m")
    assert git(other, "show", "batch/b/one:new.txt") == "new"


async def test_locks_of_a_git_that_was_killed_stop_no_branch(repository, tmp_path, changes):
    commit = git(repository, "rev-parse", "HEAD")
    await changes.note_first(commit)
    (repository / "a.txt").write_text("right\n")
    await changes.read_change()
    (tmp_path / "store" / "result-index.lock").touch()
    await changes.write_branch(repository, "batch/b/one", commit, "m")


async def test_a_beginning_that_was_killed_before_its_end_is_made_again(repository, tmp_path, changes):
    commit, around = git(repository, "rev-parse", "HEAD"), find_repository(repository, os.environ)
    for _ in range(2):
        await changes.note_first(commit, around)
        (tmp_path / "store" / _FIRST).unlink()
    await changes.note_first(commit, around)
    (repository / "a.txt").write_text("right\n")
    assert (await changes.read_change()).files == 1


async def test_no_setting_of_a_repository_within_the_place_runs(repository, tmp_path, changes):
    await changes.note_first(git(repository, "rev-parse", "HEAD"))
    canary, nested = tmp_path / "ran", repository / "n3"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "g").write_text("x\n")
    git(nested, "add", ".")
    git(nested, "commit", "-qm", "n")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    program.chmod(0o755)
    git(nested, "config", "filter.z.clean", str(program))
    (nested / ".git" / "info").mkdir(exist_ok=True)
    (nested / ".git" / "info" / "attributes").write_text("* filter=z\n")
    for _ in range(3):
        os.utime(nested / "g", (1, 1))
        await changes.read_change()
    await changes.write_branch(repository, "batch/b/one", git(repository, "rev-parse", "HEAD"), "m")
    assert not canary.exists()


async def test_a_change_that_is_too_large_is_said_and_a_place_that_is_a_link_is_not_followed(
    repository, tmp_path, changes
):
    await changes.note_first(git(repository, "rev-parse", "HEAD"))
    (repository / "big").write_bytes(os.urandom(60_000_000))
    with pytest.raises(HaloclineError, match="larger than 64 MB"):
        await changes.read_change()
    moved = tmp_path / "moved"
    repository.rename(moved)
    repository.symlink_to("/etc")
    with pytest.raises(HaloclineError, match="something else in the place"):
        await changes.read_change()
