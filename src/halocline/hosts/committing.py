"""Commits that a person wants of the files they chose: by the project's own git, with its hooks and its configuration.

Only the chosen files are committed, whole and as they are on the disk. What else is staged stays staged, also when git
or one of its hooks refuses.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from halocline.hosts.child_environment import for_commands
from halocline.hosts.programs import find_program
from halocline.ports.revisions import Committed, Uncommitted, UncommittedFile
from halocline.protocol.errors import UsageError

TIME_LIMIT = 900.0
"""Seconds; a hook may run all tests."""
MOST_SAID = 8_000
"""Characters of what git and its hooks printed that are told, the last ones."""
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "status.renames=false")
_FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")
_NAMES = {"?": "new", "A": "new", "D": "deleted"}
_UNDER_WAY = {
    "MERGE_HEAD": "A merge",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
    "rebase-merge": "A rebase",
    "rebase-apply": "A rebase",
}


async def uncommitted(workspace: Path) -> Uncommitted:
    """What is not committed below the workspace. Raises UsageError where there is no repository."""
    git = _Git(workspace, frozenset())
    words = ("status", "--porcelain=v1", "--branch", "-z", "--untracked-files=all", "--", ".")
    head, *entries = (await git.run(*_QUIET, *words)).rstrip("\0").split("\0")
    prefix, place = (await git.run("rev-parse", "--show-prefix", "--absolute-git-dir")).split("\n")[:2]
    files = tuple(_file(entry, prefix) for entry in entries if entry)
    branch = head.removeprefix("## ").removeprefix("No commits yet on ").partition("...")[0]
    return Uncommitted("" if branch.startswith("HEAD (") else branch, files, _under_way(Path(place)))


async def commit(workspace: Path, paths: Sequence[str], message: str, hidden: frozenset[str]) -> Committed:
    """Commit these files, named from the workspace; `hidden` are variables that hooks do not get.

    Raises:
        UsageError: nothing was committed, and why; in git's words when it refused.
    """
    git = _Git(workspace, hidden)
    files = {file.path: file for file in (await uncommitted(workspace)).files}
    if gone := [path for path in paths if path not in files]:
        raise UsageError(f"{gone[0]} has nothing to commit.", "Look at the files again.")
    new = [path for path in paths if not files[path].known]
    if new:
        await git.run("add", "--intent-to-add", *_FROM_INPUT, given=new)
    try:
        words = ("commit", "--only", "--no-status", "--cleanup=whitespace", f"--message={message}")
        said = await git.run(*words, *_FROM_INPUT, given=paths)
    except BaseException:
        if new:
            await git.run("rm", "--cached", "--quiet", "--force", *_FROM_INPUT, given=new)
        raise
    name, _, subject = (await git.run("log", "-1", "--no-show-signature", "--format=%h%x00%s")).strip().partition("\0")
    return Committed(name, subject, len(paths), said[-MOST_SAID:].strip())


def _file(entry: str, prefix: str) -> UncommittedFile:
    """The first letter is of the index, the second of the disk."""
    index, disk, path = entry[0], entry[1], entry[3:].removeprefix(prefix)
    if "U" in entry[:2] or entry[:2] in ("AA", "DD"):
        return UncommittedFile(path, "in conflict", False, True, True)
    state = "new" if index == "A" and disk != "D" else _NAMES.get(disk if disk != " " else index, "changed")
    return UncommittedFile(path, state, index not in " ?", disk != " ", index != "?")


def _under_way(place: Path) -> str:
    return next((name for file, name in _UNDER_WAY.items() if (place / file).exists()), "")


class _Git:
    """git in a folder. Nothing waits for a terminal, and no variable leads to another repository."""

    def __init__(self, folder: Path, hidden: frozenset[str]) -> None:
        self._folder = folder
        own = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
        self._environment = for_commands(os.environ, hidden) | own

    async def run(self, *words: str, given: Sequence[str] = ()) -> str:
        """What it printed. `given` are paths for its input. Raises UsageError with what it said."""
        program = find_program("git")
        if not program:
            raise UsageError("git was not found on this machine.", "Install git.")
        process = await asyncio.create_subprocess_exec(
            program,
            *("-c", "core.quotePath=false"),
            *words,
            cwd=self._folder,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if "commit" in words else asyncio.subprocess.PIPE,
            process_group=0,
        )
        try:
            async with asyncio.timeout(TIME_LIMIT):
                out, errors = await process.communicate("\0".join(f":(literal){path}" for path in given).encode())
        except TimeoutError:
            raise UsageError(f"git {words[0]} took longer than {TIME_LIMIT:g} s.", "See what its hooks do.") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            raise _refusal(self._folder, (errors or out).decode("utf-8", "replace").strip())
        return out.decode("utf-8", "replace")


def _refusal(folder: Path, said: str) -> UsageError:
    if "not a git repository" in said:
        return UsageError(f"{folder} is no git repository.", "Make one with: git init")
    return UsageError(f"git refused: {said[-MOST_SAID:] or 'it did not say why'}", "Nothing was committed.")
