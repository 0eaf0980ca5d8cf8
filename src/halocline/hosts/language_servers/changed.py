"""Which files of a workspace differ from its last commit, as git tells."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_LIMIT = 3.0
# Nothing of what the repository configures to be run for it is run; no lock is taken.
_COMMAND = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks")
_STATUS = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules", "--", ".")


async def changed_files(workspace: Path, environment: Mapping[str, str]) -> list[Path]:
    """Those that were changed, added or are new; none without git, or outside a repository."""
    top = await _asked(workspace, environment, "rev-parse", "--show-toplevel")
    said = await _asked(workspace, environment, *_STATUS) if top else b""
    folder = Path(top.decode("utf-8", "surrogateescape").rstrip("\n")) if top else workspace
    entries = said.decode("utf-8", "surrogateescape").split("\0")
    return [folder / entry[3:] for entry in entries if len(entry) > 3 and "D" not in entry[:2]]


async def _asked(workspace: Path, environment: Mapping[str, str], *words: str) -> bytes:
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        git = await asyncio.create_subprocess_exec(
            *_COMMAND, *words, cwd=workspace, env=environment, stdin=nothing, stdout=pipe, stderr=nothing
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(_LIMIT):
            said, _ = await git.communicate()
    except TimeoutError:
        return b""
    finally:
        if git.returncode is None:
            with suppress(ProcessLookupError):
                git.kill()
            await git.wait()
    return said if git.returncode == 0 else b""
