"""Add a worktree with the user's git, for a copy of the files: only on a person's request, and without hooks."""

import asyncio
import os
from pathlib import Path

from halocline.git.environment import bare_environment
from halocline.git.process import run_git
from halocline.git.repository import GitUnusable, check_ownership, find_repository
from halocline.protocol.errors import UsageError

TIME_LIMIT = 120.0
_MOST = 100_000
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


async def _run_git(place: Path, workspace: Path, *words: str) -> None:
    environment = bare_environment(os.environ, os.fspath(workspace))
    answer = await run_git(place, environment, words, most=_MOST, seconds=TIME_LIMIT)
    if not answer.is_good:
        last = answer.errors.decode(errors="replace").strip().split("\n")[-1]
        raise UsageError(f"git could not add a worktree: {last}", _INSTEAD)
