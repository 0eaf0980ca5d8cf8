"""Commands of a task by what a program gives for that. Each runs by itself: no folder or variable carries over.

What must stay true: what it prints is bounded, kept and redacted as what commands of this machine print.
"""

import asyncio
import logging
import threading
import time
from asyncio import Future
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from halocline.context.budget import COMMAND
from halocline.hosts.shell.output import Capture, Progress, Spool
from halocline.ports import own as own_host
from halocline.ports.host import Cut, ShellCommand, ShellResult
from halocline.ports.jobs import JobOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import SandboxChecked
from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.kinds import ApprovalMode

NO_JOBS = "The program that runs this task runs its commands, and none in the background. Run it without, to its end."
GRACE = 5.0
"""Seconds that a command which is stopped has to end."""
_log = logging.getLogger("halocline")


class OwnShell:
    """Implements `ports.host.Shell`. A sandbox is the program's own business."""

    def __init__(
        self,
        shell: own_host.Shell,
        make_spool: Callable[[], Spool],
        redact: Callable[[str], str] = lambda text: text,
        grace: float = GRACE,
    ) -> None:
        self._shell = shell
        self._grace = grace
        self._make_spool = make_spool
        self._redact = redact
        self.jobs = NoJobs()

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> SandboxChecked:
        return SandboxChecked()

    async def run(
        self, command: ShellCommand, on_output: Callable[[str], None], cut: "Future[Cut] | None" = None
    ) -> ShellResult:
        if command.background or command.terminal:
            raise ToolFailure(NO_JOBS)
        began, (printed, spool) = time.monotonic(), self._capture()
        progress, has_ended = Progress(on_output, self._redact), False

        def note(text: str) -> None:
            if not has_ended:  # what it started may print for longer
                printed.feed(data := text.encode("utf-8", "replace"))
                progress.feed(data)

        try:
            code, output = await self._follow(command, _on_this_loop(note), cut)
        except BaseException:
            progress.close()
            printed.close()
            raise
        finally:
            has_ended = True
        progress.flush()
        data = output.encode("utf-8", "replace")
        if data and len(data) != printed.total:  # it passed on a part, or something else
            printed.close()
            printed, spool = self._capture()
            printed.feed(data)
        total, binary, seconds = printed.total, printed.binary, time.monotonic() - began
        return ShellResult(code, printed.finish(), total, seconds, binary=binary, full=spool.path)

    def _capture(self) -> tuple[Capture, Spool]:
        spool = self._make_spool()
        return Capture(COMMAND, spool, redact=self._redact), spool

    async def _follow(
        self, command: ShellCommand, note: Callable[[str], None], cut: "Future[Cut] | None"
    ) -> tuple[int | None, str]:
        """Return the exit code and the output that the program gives; no code if it was cut. Raises ToolFailure."""
        running: Future[Any] | None = None
        try:
            running = asyncio.ensure_future(self._shell.run(command.text, Path(command.cwd), note))
            waiting: set[Future[Any]] = {running, cut} if cut else {running}
            await asyncio.wait(waiting, timeout=command.timeout, return_when=asyncio.FIRST_COMPLETED)
            done = running.result() if running.done() else own_host.CommandResult(None, "")
            return msgspec.convert((done.exit_code, done.output), tuple[int | None, str])
        except Exception as error:
            _log.warning("the program's shell failed", exc_info=error)
            raise ToolFailure(f"The command was not run: {type(error).__name__}: {error}") from error
        finally:
            if running:
                running.cancel()
                await asyncio.wait({running}, timeout=self._grace)

    def _keep(self, call: str = "") -> bool:
        return False

    leave = _keep

    async def close(self) -> None:
        return None


def _on_this_loop(function: Callable[[str], None]) -> Callable[[str], None]:
    """Return the function for every thread, as what runs commands often has threads."""
    loop, own = asyncio.get_running_loop(), threading.get_ident()

    def call(text: str) -> None:
        if threading.get_ident() == own:
            function(text)
        else:
            loop.call_soon_threadsafe(function, text)

    return call


class NoJobs:
    """Implements `ports.jobs.Jobs`: there are none."""

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        return None

    def list(self) -> tuple[JobInfo, ...]:
        return ()

    async def find_ports(self) -> None:
        return None

    async def read(self, name: str, wait: float = 0.0) -> JobOutput:
        raise ToolFailure(NO_JOBS)

    def tail(self, name: str) -> str:
        raise ToolFailure(NO_JOBS)

    def screen(self, name: str) -> str:
        raise ToolFailure(NO_JOBS)

    async def write(self, name: str, text: str) -> JobOutput:
        raise ToolFailure(NO_JOBS)

    async def stop(self, name: str) -> None:
        raise ToolFailure(NO_JOBS)

    async def settle(self) -> None:
        return None

    def collect_changes(self) -> tuple[JobOutput, ...]:
        return ()
