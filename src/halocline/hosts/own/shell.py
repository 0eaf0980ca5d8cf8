"""Commands of a task by what a program gives for that. Each runs by itself: no folder or variable carries over."""

import asyncio
import logging
import time
from asyncio import Future
from collections.abc import Callable
from pathlib import Path
from typing import Any

from halocline.ports import own as own_host
from halocline.ports.host import Cut, ShellCommand, ShellResult
from halocline.ports.jobs import JobOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import SandboxChecked
from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.kinds import ApprovalMode

NO_JOBS = "The program that runs this task runs its commands, and none in the background: run it without, to its end."
_log = logging.getLogger("halocline")


class OwnShell:
    """Implements `ports.host.Shell`. A sandbox is the program's own business."""

    def __init__(self, shell: own_host.Shell) -> None:
        self._shell = shell
        self.jobs = NoJobs()

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> SandboxChecked:
        return SandboxChecked()

    async def run(
        self, command: ShellCommand, on_output: Callable[[str], None], cut: "Future[Cut] | None" = None
    ) -> ShellResult:
        if command.background or command.terminal:
            raise ToolFailure(NO_JOBS)
        began, printed = time.monotonic(), list[str]()

        def note(text: str) -> None:
            printed.append(text)
            on_output(text)

        running = asyncio.ensure_future(self._shell.run(command.text, Path(command.cwd), note))
        try:
            waiting: set[Future[Any]] = {running, cut} if cut else {running}
            await asyncio.wait(waiting, timeout=command.timeout, return_when=asyncio.FIRST_COMPLETED)
            code, output = (running.result().exit_code, running.result().output) if running.done() else (None, "")
        except Exception as error:
            _log.warning("the program's shell failed", exc_info=error)
            raise ToolFailure(f"The command was not run: {type(error).__name__}: {error}") from error
        finally:
            running.cancel()
            await asyncio.wait({running})
        output = output or "".join(printed)
        return ShellResult(code, output, len(output.encode()), time.monotonic() - began)

    def _keep(self, call: str = "") -> bool:
        return False

    leave = _keep

    async def close(self) -> None:
        return None


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
