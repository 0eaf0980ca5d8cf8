"""Commands on this machine, each a process group of its own.

A command's end is its shell's end: a background child that still holds the pipe is not waited for. It goes on, its
output is dropped, and `close` stops it. A time limit and a cancellation leave nothing of the group behind.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from halocline.hosts.job import Job
from halocline.hosts.output import Capture, Progress, Spool
from halocline.hosts.programs import find_program
from halocline.ports.host import ShellCommand, ShellResult
from halocline.protocol.errors import ToolFailure

SPOOL_CAP = 1 << 30
_GRACE = 2.0
_SHORT_GRACE = 0.3
_FIXED = {"GIT_PAGER": "cat", "PAGER": "cat", "TERM": "dumb", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}


class LocalShell:
    """Fulfils `ports.host.Shell` with bash, or sh where there is none.

    Outputs over budget are kept in `spool_folder`, at most `spool_cap` bytes each. Commands do not see the environment
    variables named in `hidden`.
    """

    def __init__(self, spool_folder: Path, hidden: frozenset[str] = frozenset(), spool_cap: int = SPOOL_CAP) -> None:
        self._spool_folder = spool_folder
        self._spool_cap = spool_cap
        self._environment = {name: value for name, value in os.environ.items() if name not in hidden} | _FIXED
        self._program = find_program("bash") or "/bin/sh"
        self._left: list[Job] = []

    async def run(self, command: ShellCommand, on_output: Callable[[str], None]) -> ShellResult:
        """Run to the end. Raises ToolFailure when the command cannot be started at all."""
        began = time.monotonic()
        spool = Spool(self._spool_folder, self._spool_cap)
        capture, progress = Capture(command.budget, spool), Progress(on_output)
        exit_code = await self._watch(command, capture, progress)
        progress.flush()
        return ShellResult(
            exit_code=exit_code,
            output=capture.finish(),
            total_bytes=capture.total,
            seconds=time.monotonic() - began,
            binary=capture.binary,
            full=spool.path,
        )

    async def close(self) -> None:
        """Stop what earlier commands left running."""
        left, self._left = self._left, []
        await asyncio.gather(*(job.abort(_SHORT_GRACE) for job in left))

    async def _watch(self, command: ShellCommand, capture: Capture, progress: Progress) -> int | None:
        """See the command through. Gives the exit code, None when the time limit stopped it."""

        def take(chunk: bytes) -> None:
            capture.feed(chunk)
            progress.feed(chunk)

        job = self._start(command, take)
        try:
            in_time = await job.ends_within(command.timeout)
            if not in_time:
                await job.stop(_GRACE)
            await job.drain()
        except BaseException:
            progress.close()
            capture.close()
            await job.abort(_SHORT_GRACE)
            raise
        finally:
            self._let_go(job)
        return job.exit_code if in_time else None

    def _start(self, command: ShellCommand, on_chunk: Callable[[bytes], object]) -> Job:
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(
                [self._program, "-c", command.text],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.STDOUT,
                cwd=command.cwd,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reading)
            raise _not_started(command, error) from error
        finally:
            os.close(writing)
        return Job(process, reading, on_chunk)

    def _let_go(self, job: Job) -> None:
        job.ignore_output()
        self._left = [one for one in (*self._left, job) if one.is_loose]


def _not_started(command: ShellCommand, error: OSError | ValueError) -> ToolFailure:
    if not os.path.isdir(command.cwd):
        return ToolFailure(f"The folder {command.cwd} is gone, so no command can run in it. Nothing was run.")
    if isinstance(error, ValueError):
        return ToolFailure(f"The command cannot be given to a shell: {error}. Nothing was run.")
    return ToolFailure(f"The command could not be started: {error.strerror}. If it is long, put it into a file first.")
