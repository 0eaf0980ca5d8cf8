"""The change in a place: what `git apply` makes of it is what is there, and nothing of the place runs."""

import os
import subprocess

import pytest
from tests.batch.conftest import git

from halocline.batch.tree_changes import TreeChanges

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
        await changes.write_branch(repository, "batch/b/one", first, "Mend it\n")
    assert git(repository, "log", "-1", "--format=%s %P", "batch/b/one") == f"Mend it {first}"
    assert git(repository, "show", "batch/b/one:a.txt") == "right"
    assert git(repository, "status", "--porcelain") == "M a.txt"
