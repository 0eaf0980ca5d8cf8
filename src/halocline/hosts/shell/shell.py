"""Commands on this machine, each in its own shell and session; folder and exports carry over to the next command.

A command ends when its shell ends. Whatever still holds its output then continues as a job, as does a command that is
left running. A timeout or a cancellation stops all of its processes, and `close` stops those of every command.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from errno import E2BIG
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from halocline.context.budget import COMMAND
from halocline.hosts.executables import find_program
from halocline.hosts.shell.ancestry import MARK
from halocline.hosts.shell.descriptors import open_pipe, open_scratch_file, open_terminal
from halocline.hosts.shell.job import Job
from halocline.hosts.shell.jobs import START, START_ON_TERMINAL, LocalJobs, wait_until_settled
from halocline.hosts.shell.launch import Launcher, explain_failed_start, name_trace
from halocline.hosts.shell.output import Capture, Progress, Spool
from halocline.hosts.shell.processes import Process
from halocline.hosts.shell.state import ShellState, ShellStates, build_shell_words, left_in
from halocline.ports.host import Cut, Left, ShellCommand, ShellResult
from halocline.protocol.child_environment import ChildEnvironment
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import SandboxChecked, ShellMoved
from halocline.protocol.kinds import ApprovalMode, SandboxStanding

if TYPE_CHECKING:
    from halocline.hosts.sandbox.backends import Held
    from halocline.hosts.sandbox.sandbox import Sandbox

SPOOL_CAP = 1 << 28
_GRACE = 2.0
_SHORT_GRACE = 0.3
TOO_LARGE = "the variable {name} is not kept for the next command: it is over 100 kB; save its value in a file instead"
TOO_MUCH = "it ran without the variables that earlier commands exported: together they exceed the system's limit"


class Running(msgspec.Struct):
    """A command that was started, with what its result needs."""

    command: ShellCommand
    job: Job
    spool: Spool
    progress: Progress
    state: int
    environment: dict[str, str]
    held: "Held | None"
    began: float
    gone: str
    left: Left | None = None
    stuck: bool = False
    in_time: bool = True


class LocalShell:
    """Implements `ports.host.Shell` with bash, else with sh, where nothing carries over between commands.

    Outputs over budget are kept in `spool_folder`, at most `spool_cap` bytes each. Variables that look like secrets,
    and those in `hidden`, reach commands only if they are in `passed`: see `child_environment`. Jobs are numbered from
    `first_job`. Commands judged read-only do not find programs of the `workspace` by name. `redact` removes secrets
    from outputs. Commands get `home` in their environment: our own command line refuses to control it for them. The
    rest of that comes from `environment`.
    """

    def __init__(
        self,
        spool_folder: Path,
        hidden: frozenset[str] = frozenset(),
        spool_cap: int = SPOOL_CAP,
        first_job: int = 1,
        workspace: str = "",
        sandbox: "Sandbox | None" = None,
        sandbox_in_auto: "Callable[[], Sandbox] | None" = None,
        redact: Callable[[str], str] = lambda text: text,
        home: str = "",
        passed: tuple[str, ...] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._redact = redact
        self._home = home
        self._spool_folder = spool_folder
        self._spool_cap = spool_cap
        self._launcher = Launcher(workspace, hidden, passed, environment)
        self._bash = find_program("bash")
        self._states = ShellStates()
        self._sandbox = sandbox
        self._sandbox_in_auto = sandbox_in_auto
        self._applies = sandbox_in_auto is None
        self._set_aside: list[str] = []
        self._leaving: asyncio.Future[Cut] | None = None
        self._leaves_call = ""
        self.jobs = LocalJobs(first_job)

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> SandboxChecked:
        self.prepare()  # a command is about to be judged, which takes as long the first time
        if self._sandbox_in_auto is not None:
            self._applies = mode is ApprovalMode.AUTO and await self._is_full(self._sandbox_in_auto)
        return await self._sandbox.check() if self._sandbox and self._applies else SandboxChecked()

    async def _is_full(self, make: "Callable[[], Sandbox]") -> bool:
        """True if this machine has a full sandbox; a weaker one is used only if the settings ask for it."""
        if self._sandbox is None:
            self._sandbox = make()
        return (await self._sandbox.check()).standing is SandboxStanding.FULL

    def prepare(self) -> None:
        """Begin to start the process that starts commands, so that the first one need not wait for it."""
        self._launcher.begin()

    async def run(
        self, command: ShellCommand, on_output: Callable[[str], None], cut: "asyncio.Future[Cut] | None" = None
    ) -> ShellResult:
        """Run until the command ends or becomes a job. Raises ToolFailure when it cannot be started."""
        running = await self._start(command, Progress(on_output, self._redact))
        if cut is None:
            cut = self._leaving = asyncio.get_running_loop().create_future()
            if command.call and command.call == self._leaves_call:
                self.leave()
        try:
            await self._wait_for_end(running, cut)
        except BaseException:
            running.progress.close()
            running.job.capture.close()
            await running.job.abort(_SHORT_GRACE)
            os.close(running.state)
            raise
        finally:
            if cut is self._leaving:
                self._leaving = None
        running.progress.flush()
        await self._audit(running.held)
        return self._build_result(running)

    def leave(self, call: str = "") -> bool:
        if self._leaving is None or self._leaving.done():
            self._leaves_call = call
            return bool(call)
        self._leaving.set_result(Cut.LEAVE)
        return True

    async def close(self) -> None:
        await self.jobs.close(self._launcher.close)
        if self._sandbox:
            await asyncio.to_thread(self._sandbox.close)

    async def _audit(self, held: "Held | None") -> None:
        """Set aside files made in the sandbox, by a command or a job, that commands outside would obey."""
        if self._sandbox and held:
            self._set_aside += await asyncio.to_thread(self._sandbox.audit, held.before)

    def _audit_job(self, held: "Held | None") -> None:
        if self._sandbox and held:
            self._set_aside += self._sandbox.audit(held.before)

    async def _wait_for_end(self, running: Running, cut: "asyncio.Future[Cut]") -> None:
        """Wait for its end, its time limit, or a reason to leave it running."""
        command, job = running.command, running.job
        if command.background or command.terminal:
            await wait_until_settled(job, START_ON_TERMINAL if command.terminal else START, cut)
            running.left = None if job.exit_code is not None else Left.MODEL
        elif not await job.ends(command.timeout, cut):
            if cut.done() and cut.result() is Cut.LEAVE:
                running.left = Left.PERSON
            else:
                running.in_time = False
                running.stuck = await job.is_stuck()
                await job.stop(_GRACE)
        if running.left is None:
            await job.drain()
            running.left = Left.SHELL if job.is_open and running.in_time else None
        if running.left:
            await job.find_ports()

    def _build_result(self, running: Running) -> ShellResult:
        """Build the result. A command that continues gets a job name; one that ended is closed."""
        job = running.job
        seconds = time.monotonic() - running.began
        ports = job.ports if running.left else ()
        ended = running.in_time and running.left in (None, Left.SHELL)
        moved = self._keep_state(running) if ended else None
        os.close(running.state)
        total, binary = job.capture.total, job.capture.binary
        output, name = self._keep_job(running, seconds) if running.left else (job.capture.finish(), "")
        if not name:
            job.close()
        notes, self._set_aside = (*self._set_aside, *filter(None, [job.loss])), []
        return ShellResult(
            exit_code=job.exit_code if ended else None,
            output=output,
            total_bytes=total,
            seconds=seconds,
            binary=binary,
            full=running.spool.path,
            job=name,
            left=running.left,
            ports=ports,
            quiet=job.quiet,
            stuck=running.stuck,
            full_screen=job.full_screen,
            moved=moved,
            gone=running.gone,
            sandboxed=running.held is not None,
            bounds=self._sandbox.describe_bounds() if self._sandbox and running.held and job.exit_code else "",
            set_aside=notes,
            withheld=self._launcher.withheld,
        )

    def _keep_job(self, running: Running, seconds: float) -> tuple[str, str]:
        output = running.job.capture.take()
        limit = running.command.timeout if running.left is Left.MODEL else None
        return output, self.jobs.keep(
            running.command.written or running.command.text,
            running.job,
            None if limit is None else max(0.0, limit - seconds),
            lambda: self._audit_job(running.held),
            self._launcher.withheld,
        )

    def _keep_state(self, running: Running) -> ShellMoved | None:
        """Keep the folder and variables for the next command. None when they are unchanged."""
        sandboxed = running.held is not None
        before = self._states.of(sandboxed=sandboxed)
        if running.command.fresh:
            return None
        if self._bash and (state := left_in(running.state, running.command.cwd, running.environment)):
            self._states.learn(before.move_to(state.folder) if running.command.judged else state, sandboxed=sandboxed)
            self._set_aside += [TOO_LARGE.format(name=name) for name in state.too_large]
        after = self._states.of(sandboxed=sandboxed)
        if not running.gone and (before.folder, before.names, before.path) == (after.folder, after.names, after.path):
            return None
        return ShellMoved(after.folder, after.names, after.path)

    async def _start(self, command: ShellCommand, progress: Progress) -> Running:
        sandbox = await self._sandbox_for(command)
        gone = "" if command.fresh else self._forget_a_folder_that_is_gone(sandbox)
        state = ShellState() if command.fresh else self._states.of(sandboxed=sandbox is not None)
        folder = state.folder or command.cwd
        mark = os.urandom(8).hex()
        variables, limits = state.over(self._launcher.environment), sandbox.limits if sandbox else ""
        words = build_shell_words(self._bash, command.text, variables, limits)
        hold = partial(sandbox.hold, shows_secrets=command.shows_secrets) if sandbox else None
        held = await asyncio.to_thread(hold, words, folder, command.hides) if hold else None
        own = {MARK: f"{mark} {self._home}".rstrip()} | name_trace(command.traceparent)
        base = self._launcher.build_environment(held, own, judged=command.judged, terminal=command.terminal)
        state = ShellState(state.folder) if command.judged else state
        reading, writing = open_terminal() if command.terminal else open_pipe()
        left = open_scratch_file()
        began = time.monotonic()
        try:
            await self._launcher.ready()
            fds, one = (writing, left), bool(self._bash) and words[-1] == command.text
            launch = partial(
                self._launcher.start, held, words, folder=folder, fds=fds, terminal=command.terminal, is_one_program=one
            )
            process = await self._launch_with(state, base, launch)
        except BaseException as error:
            os.close(reading)
            os.close(left)
            if isinstance(error, OSError | ValueError):
                raise explain_failed_start(folder, error) from error
            raise
        finally:
            os.close(writing)
        spool = Spool(self._spool_folder, self._spool_cap)
        capture = Capture(COMMAND, spool, terminal=command.terminal, redact=self._redact)
        job = Job(process, reading, capture, progress.feed, terminal=command.terminal, mark=f"{MARK}={mark}".encode())
        return Running(command, job, spool, progress, left, base, held, began, gone)

    async def _launch_with(
        self, state: ShellState, base: ChildEnvironment, launch: Callable[[ChildEnvironment], Awaitable[Process]]
    ) -> Process:
        """Start with the variables that earlier commands exported, or without them if the system refuses so many."""
        try:
            return await launch(state.over(base))
        except OSError as error:
            if error.errno != E2BIG or not state.variables:
                raise
        process = await launch(base)
        self._set_aside.append(TOO_MUCH)
        return process

    async def _sandbox_for(self, command: ShellCommand) -> "Sandbox | None":
        """The sandbox for this command. Raises ToolFailure when one is required and cannot be used."""
        if self._sandbox is None or not self._applies:
            return None
        checked = await self._sandbox.check()
        if checked.required and (command.unsandboxed or checked.standing is not SandboxStanding.FULL):
            why = "; ".join(checked.lacks) or "no command may run outside it"
            raise ToolFailure(f"The settings require the sandbox for commands: {why}. Nothing was run.")
        return None if command.unsandboxed or checked.standing is SandboxStanding.NONE else self._sandbox

    def _forget_a_folder_that_is_gone(self, sandbox: "Sandbox | None") -> str:
        folder = self._states.of(sandboxed=sandbox is not None).folder
        if not folder or os.path.isdir(sandbox.outside(folder) if sandbox else folder):
            return ""
        self._states.forget_folder()
        return folder
