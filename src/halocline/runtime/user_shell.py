"""Commands that the person runs in an open task (`!`): beside its turns, in its shell, without approval.

What must stay true: each one that started has one end in the log, even if the task is closed; if the log cannot be
written, the task ends, as no one would hear of that end. The person typed it, so neither the gate nor a hook is asked,
and a sandbox applies only if the settings require one for all commands, or the person has it run as the task's own do.
"""

import asyncio
from functools import partial

from halocline.context.notes.jobs import exit_words, find_answer
from halocline.context.notes.withheld_variables import withheld_note
from halocline.ports.host import Cut, ShellCommand, ShellResult
from halocline.protocol.commands import LeaveRunning, RunCommand, StopCommand
from halocline.protocol.errors import HaloclineError, ToolFailure, UsageError
from halocline.protocol.events import OwnCommandEnded, OwnCommandStarted, ToolCallProgressed
from halocline.protocol.waiting import end_all
from halocline.task.task import Task

MOST = 16
"""Commands of the person that may run at once in one task; guards against a faulty page."""


class OwnCommands:
    """The person's commands in one task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._running: dict[str, tuple[asyncio.Future[Cut], asyncio.Task[None]]] = {}
        self._broke: HaloclineError | None = None

    def take(self, request: RunCommand | StopCommand | LeaveRunning) -> bool:
        """Start, stop or background a command; events report it. Return False if it is over. Raises UsageError."""
        match request:
            case RunCommand():
                self._begin(request)
                return True
            case StopCommand(run=run):
                return self._cut(run, Cut.STOP)
            case LeaveRunning(run=run):
                return self._cut(run, Cut.LEAVE)

    def _begin(self, request: RunCommand) -> None:
        if not (text := request.command.strip()):
            raise UsageError("There is no command after the exclamation mark.", "Type it directly after: !git status")
        if len(self._running) >= MOST:
            raise UsageError(f"{MOST} of your commands are already running.", "Stop one, or wait until one ends.")
        run, host = f"!{self._task.state.user_commands.started + 1}", self._task.host
        command = host.secrets.redact(text)
        self._task.emit(OwnCommandStarted(run=run, command=command, client=request.client))
        cut: asyncio.Future[Cut] = asyncio.get_running_loop().create_future()
        running = asyncio.create_task(
            self._see_through(run, text, command, cut, request.as_task), name=f"{self._task.state.task} {run}"
        )
        self._running[run] = (cut, running)

    def _cut(self, run: str, how: Cut) -> bool:
        cut, _ = self._running.get(run, (None, None))
        if cut is None or cut.done():
            return False
        cut.set_result(how)
        return True

    async def close(self) -> None:
        """Stop all commands and wait until they end. Raises the error that broke one."""
        waiting = [running for _, running in self._running.values()]
        for run in [*self._running]:
            self._cut(run, Cut.STOP)
        await end_all(*waiting)
        if self._broke:
            raise self._broke

    async def _see_through(self, run: str, text: str, command: str, cut: "asyncio.Future[Cut]", as_task: bool) -> None:
        end = partial(OwnCommandEnded, run=run, command=command)
        try:
            ended = _end_event(end, await self._run_shell(run, text, cut, as_task), command)
        except ToolFailure as failure:
            ended = end(said=f"not run: {failure}")
        finally:
            del self._running[run]
        try:
            self._task.emit(ended)
        except HaloclineError as error:
            self._broke = self._broke or error
            self._task.inbox.close()

    async def _run_shell(self, run: str, text: str, cut: "asyncio.Future[Cut]", as_task: bool) -> ShellResult:
        task = self._task
        required = (await task.host.tools.shell.sandbox(task.state.permissions.approval_mode)).required
        order = ShellCommand(text, task.state.workspace, None, unsandboxed=not (required or as_task), fresh=as_task)
        return await task.host.tools.shell.run(order, lambda new: task.emit(ToolCallProgressed.of(run, new, str)), cut)


def _end_event(end: "partial[OwnCommandEnded]", result: ShellResult, command: str) -> OwnCommandEnded:
    moved = result.moved
    return end(
        output=result.output,
        said="; ".join(_describe_end(result, command)),
        exit_code=result.exit_code,
        stopped=result.exit_code is None and not result.job,
        job=result.job,
        moved=moved is not None,
        cwd=moved.cwd if moved else "",
        exported=moved.exported if moved else (),
        path=moved.path if moved else "",
    )


def _describe_end(result: ShellResult, command: str) -> list[str]:
    """Describe how a command ended, for the person and the model."""
    time = f"{result.seconds:.1f} s"
    if result.exit_code is not None:
        notes = [f"{exit_words(result.exit_code, find_answer(command, result))} in {time}"]
    else:
        notes = [] if result.job else [f"stopped after {time}"]
    if result.job:
        notes.append(f"{'what it left running' if notes else 'it'} continues as {result.job}")
    if result.gone:
        notes.append(f"the folder {result.gone} is gone, so it ran in the workspace")
    if result.full_screen:
        notes.append("it is a full-screen program, whose output cannot be shown")
    if note := withheld_note(command, result.output, result.exit_code, result.withheld):
        notes.append(note)
    return [*notes, *result.set_aside]
