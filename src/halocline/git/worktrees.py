"""Add worktrees with the user's git: only on a person's request, and without hooks."""

import asyncio
import os
import re
from pathlib import Path

from halocline.git.environment import bare_environment
from halocline.git.process import run_git
from halocline.git.repository import GitUnusable, Repository, check_ownership, find_repository
from halocline.git.view import open_view
from halocline.git.worktree_changes import explain_missing
from halocline.git.worktree_include import copy_included
from halocline.git.worktree_list import BRANCH, Worktree, find_main_of, list_worktrees, place_worktree
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

TIME_LIMIT = 120.0
_MOST = 100_000
WITHOUT = "Start without --worktree."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HALF_MADE = "initializing"
"""Why git locks a worktree while it makes it: a git that was killed leaves that."""
_INSTEAD = "Use --files instead of --worktree."


async def add_worktree(workspace: Path, folder: Path) -> None:
    """Add one at the checked-out commit, with an index but no files yet. Raises UsageError."""
    try:
        repository = await asyncio.to_thread(find_repository, workspace, os.environ)
        check_ownership(repository)
        if repository.prefix:
            raise UsageError(f"{workspace} is not the top folder of its repository.", _INSTEAD)
        # No file is checked out, so no filter runs.
        await _run_git(workspace, workspace, "worktree", "add", "--quiet", "--no-checkout", "--detach", str(folder))
        await _run_git(folder, workspace, "reset", "--quiet", "--mixed")
    except GitUnusable as error:
        raise UsageError(f"git could not add a worktree: {error.text}", _INSTEAD) from error


async def _run_git(place: Path, workspace: Path, *words: str, instead: str = _INSTEAD) -> None:
    environment = bare_environment(os.environ, os.fspath(workspace))
    answer = await run_git(place, environment, words, most=_MOST, seconds=TIME_LIMIT)
    if not answer.is_good:
        last = answer.errors.decode(errors="replace").strip().split("\n")[-1]
        raise UsageError(f"git {' '.join(words[:2])} failed: {last}", instead)


class OpenedWorktree(Value, frozen=True):
    """A worktree to work in: the folder that corresponds to the one it was opened from.

    A new one got copies of `copied` ignored files; `failed` could not be copied.
    """

    folder: Path
    branch: str
    is_new: bool = False
    copied: int = 0
    failed: tuple[str, ...] = ()


async def open_worktree(workspace: Path, name: str, *, from_here: bool = False) -> OpenedWorktree:
    """Return the worktree with this name beside the repository; add it if there is none.

    It begins at the commit of the main folder, or `from_here` at that of the workspace. Raises UsageError.
    """
    if not _NAME.fullmatch(name) or ".." in name or name.endswith((".", ".lock")):
        raise UsageError(
            f"{name!r} is not a name for a worktree.",
            'A name has ASCII letters, digits, and . _ - between them. For one without a name: halo -w -- "what to do"',
        )
    try:
        around = await asyncio.to_thread(find_repository, workspace, os.environ)
        repository, prefix = await asyncio.to_thread(find_main_of, around), around.prefix
        branch = f"{BRANCH}{name}"
        folder = place_worktree(repository.top, name)
        if (folder / ".git").exists():
            check_ownership(await asyncio.to_thread(find_repository, folder, os.environ))
            return OpenedWorktree(folder / prefix, branch)
        start = await _ask_git(workspace, "rev-parse", "--verify", "--quiet", "HEAD") if from_here else "HEAD"
        await _check_out(repository, folder, branch, start)
        copied, failed = await copy_included(repository.top, folder)
    except GitUnusable as error:
        raise UsageError(f"git could not add a worktree: {error.text}", WITHOUT) from error
    return OpenedWorktree(folder / prefix, branch, True, copied, tuple(failed))


class BranchLeft(Value, frozen=True):
    """The branch of a removed worktree: the number of commits that only it has, None if unknown, and the last one."""

    commits: int | None
    branch: str
    tip: str


async def remove_worktree(worktree: Worktree) -> BranchLeft:
    """Remove a worktree with all its files, and its branch unless only that has some commits.

    If such commits are on no branch, they get one. Raises UsageError and GitUnusable.
    """
    main, ref = worktree.main, worktree.head or f"refs/heads/{worktree.branch}"
    others = ("--branches", "--remotes") if worktree.head else ("HEAD",)
    async with open_view(main) as view:
        tip = (await view.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")).text.strip()
        counted = await view.run("rev-list", "--count", tip, "--not", *others) if tip else None
    commits = 0 if counted is None else int(counted.text) if counted.is_good else None
    branch = worktree.branch or f"{BRANCH}{worktree.name}"
    if commits != 0 and worktree.head:
        await _run_git(main, main, "branch", "--quiet", branch, tip, instead="")
    force = ("--force", "--force") if worktree.lock == _HALF_MADE else ("--force",)
    await _run_git(main, main, "worktree", "remove", *force, str(worktree.folder), instead="")
    if tip and commits == 0 and worktree.branch.startswith(BRANCH):
        await _run_git(main, main, "branch", "--quiet", "-D", "--", branch, instead="")
    return BranchLeft(commits, branch, tip)


async def _check_out(repository: Repository, folder: Path, branch: str, start: str) -> None:
    """Add the worktree with its files, but without running programs that the repository's settings name."""
    programs = [one.key for one in repository.settings if one.is_of_the_repository and one.key.startswith("filter.")]
    if programs:
        raise GitUnusable(f"the repository sets {programs[0]}, a program that would run.", "")
    add, top = ("worktree", "add", "--quiet"), repository.top
    try:
        await _run_git(top, top, *add, "-b", branch, str(folder), start, instead=WITHOUT)
    except UsageError:  # asked only now, as all are rare
        if not await _ask_git(top, "rev-parse", "--verify", "--quiet", "HEAD"):
            raise GitUnusable("the repository has no commit yet.", "") from None
        listed = await asyncio.to_thread(list_worktrees, repository)
        if gone := next((one for one in listed if one.is_missing and one.folder == folder), None):
            raise explain_missing(gone) from None
        if not await _ask_git(top, "branch", "--list", branch):
            raise
        # Of an earlier one, of which only the name is left, it starts as a new one does.
        has_none = await _ask_git(top, "rev-list", "--count", branch, "--not", start) == "0"
        place = ("-B", branch, str(folder), start) if has_none else (str(folder), branch)
        await _run_git(top, top, *add, *place, instead=WITHOUT)


async def _ask_git(folder: Path, *words: str) -> str:
    environment = bare_environment(os.environ, os.fspath(folder))
    return (await run_git(folder, environment, words, most=_MOST, seconds=TIME_LIMIT)).text.strip()
