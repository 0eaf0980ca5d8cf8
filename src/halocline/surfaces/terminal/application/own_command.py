"""Runs a command from the person's own settings: no project sets one, and it has no secrets in its environment."""

import asyncio
import os
import signal

from halocline.protocol.child_environment import child_environment

PATIENCE = 5.0
"""Seconds that such a command has."""


async def run_own_command(command: str, given: bytes, *words: str) -> bytes:
    """Run a line of shell and return what it prints: `given` is its input, and the words are `$1` and so on.

    Raises OSError when it fails, and TimeoutError.
    """
    pipe, quiet = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", command, "sh", *words),
        stdin=pipe, stdout=pipe, stderr=quiet, env=child_environment(os.environ), start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE):
            printed, _ = await process.communicate(given)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise OSError(f"it ended with code {process.returncode}")
    return printed
