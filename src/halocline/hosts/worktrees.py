"""New worktrees of the project's git, for a copy of its files; made because a person said so, and without its hooks."""

import asyncio
from pathlib import Path

from halocline.hosts.programs import find_program
from halocline.protocol.errors import UsageError


async def add_worktree(workspace: Path, folder: Path) -> None:
    """Make one at the commit that is checked out, with an index but no files yet. Raises UsageError."""
    prefix = await _git(workspace, "rev-parse", "--show-prefix")
    if prefix.strip():
        raise UsageError(f"{workspace} is only a part of its repository.", "Use --files instead of --worktree.")
    await _git(workspace, "worktree", "add", "--quiet", "--no-checkout", "--detach", str(folder))
    await _git(folder, "reset", "--quiet", "--mixed")


async def _git(place: Path, *words: str) -> str:
    program = find_program("git")
    if not program:
        raise UsageError("git was not found on this machine.", "Use --files instead of --worktree.")
    process = await asyncio.create_subprocess_exec(
        program,
        *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
        *words,
        cwd=place,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        process_group=0,
    )
    output, errors = await process.communicate()
    if process.returncode:
        said = errors.decode(errors="replace").strip().split("\n")[-1]
        raise UsageError(f"git made no worktree: {said}", "Use --files instead of --worktree.")
    return output.decode(errors="replace")
