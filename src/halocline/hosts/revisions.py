"""The project's own git, asked for a diff: nothing of its configuration is run, and nothing is written."""

import asyncio
import os
from pathlib import Path

from halocline.hosts.programs import find_program
from halocline.protocol.errors import ToolFailure

TIME_LIMIT = 30.0
LARGEST = 2_000_000
"""Bytes of one diff."""
_PLAIN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--unified=3",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "diff.noprefix=false")


async def git_diff(workspace: Path, old: str, new: str = "") -> str:
    """The diff between two commits, or from one to the files as they are. Raises ToolFailure."""
    commits = [await _commit(workspace, ref) for ref in (old, *filter(None, (new,)))]
    code, output, _ = await _git(workspace, "diff", *_PLAIN, *commits, "--")
    if code not in (0, None):
        raise ToolFailure(f"git diff failed with exit code {code}.")
    return output.decode("utf-8", "replace")


async def _commit(workspace: Path, ref: str) -> str:
    """The full name of a commit. Raises ToolFailure when there is none of that name."""
    if "\0" in ref:
        raise ToolFailure("A ref holds no NUL character.")
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    code, output, errors = await _git(workspace, *words)
    if code == 0:
        return output.decode().strip()
    if b"not a git repository" in errors:
        raise ToolFailure(f"{workspace} is no git repository. Name checkpoints instead (TASK/2).")
    raise ToolFailure(f"There is no commit {ref!r}. Name a branch, a tag, a commit (HEAD~1) or a checkpoint (TASK/2).")


async def _git(workspace: Path, *arguments: str) -> tuple[int | None, bytes, bytes]:
    """Exit code, output and errors; the code is None when there was more output than is read."""
    program = find_program("git")
    if not program:
        raise ToolFailure("git was not found on this machine.")
    process = await asyncio.create_subprocess_exec(
        program,
        *_QUIET,
        *arguments,
        cwd=workspace,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        process_group=0,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(TIME_LIMIT):
            output, errors = await asyncio.gather(_bounded(process.stdout), _bounded(process.stderr))
            return (None if len(output) > LARGEST else await process.wait()), output[:LARGEST], errors
    except TimeoutError:
        raise ToolFailure(f"git {arguments[0]} took longer than {TIME_LIMIT:g} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _bounded(stream: asyncio.StreamReader) -> bytes:
    data = b""
    while len(data) <= LARGEST and (chunk := await stream.read(1 << 16)):
        data += chunk
    return data
