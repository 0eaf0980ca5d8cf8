"""Finds checkpoints that a log names and no store has any more."""

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints.repository.access import place_store
from halocline.checkpoints.repository.renamed import list_stores
from halocline.checkpoints.store.git import Git, GitFailed, Runner

_GIVEN_UP = "given-up"
"""Folder beside the stores, with a file for each task whose checkpoints were deleted to free space."""
_PATIENCE = 60.0


def note_given_up(folder: Path, task: str) -> None:
    """Remember that checkpoints of a task were deleted, and not lost."""
    with suppress(OSError):
        (folder / _GIVEN_UP).mkdir(mode=0o700, exist_ok=True)
        (folder / _GIVEN_UP / task).touch(mode=0o600)


def forget_given_up(folder: Path, task: str) -> None:
    """Forget it: the task is deleted as well."""
    (folder / _GIVEN_UP / task).unlink(missing_ok=True)


def find_lost(
    folder: Path, workspace: Path, mark: str, named: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the commits of each task that no store of its workspace has whole; in their order.

    `mark` is that of the workspace when the tasks started, if they know it. `named` are the commits that the logs of
    tasks name. Those of a task that were deleted to free space are not lost.
    """
    asked = {task: commits for task, commits in named.items() if not (folder / _GIVEN_UP / task).exists()}
    lost = _find_lost(folder, workspace, mark, {one for few in asked.values() for one in few})
    found = {task: tuple(one for one in commits if one in lost) for task, commits in asked.items()}
    return {task: commits for task, commits in found.items() if commits}


def is_there(folder: Path, workspace: Path, mark: str, commit: str) -> bool:
    """Return True if a workspace's store has all of a checkpoint. `mark` is as above."""
    return not _find_lost(folder, workspace, mark, {commit})


def _find_lost(folder: Path, workspace: Path, mark: str, commits: Collection[str]) -> Collection[str]:
    """Return the commits that are whole in none of the stores: a folder that was renamed may have left one."""
    for store in list_stores(folder, place_store(folder, workspace), mark):
        commits = _find_incomplete(store, workspace, sorted(commits)) if commits else commits
    return commits


def _find_incomplete(store: Path, workspace: Path, commits: list[str]) -> frozenset[str]:
    """Return the commits that cannot be read whole: git looks at the header of every object that they lead to."""
    if not commits or not (store / "objects").is_dir():
        return frozenset(commits)
    git = Git("git", store, workspace, time.monotonic() + _PATIENCE, Runner(), enters_workspace=False)
    missing = _find_unreadable(git, commits)
    there = [one for one in commits if one not in missing]
    if there and not _are_whole(git, there):
        there = [one for one in there if _are_whole(git, [one])]
    return frozenset(commits).difference(there)


def _are_whole(git: Git, commits: list[str]) -> bool:
    with suppress(GitFailed):
        names = git.run("rev-list", "--objects", "--no-object-names", "--no-walk", *commits)
        return not _find_unreadable(git, names.decode().split())
    return False


def _find_unreadable(git: Git, names: Collection[str]) -> frozenset[str]:
    data = "".join(f"{name}\n" for name in names).encode()
    answers = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", data=data).decode().splitlines()
    return frozenset(answer.split()[0] for answer in answers if answer.endswith(" missing"))
