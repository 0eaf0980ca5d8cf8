"""Commands that rewind or fork an open task. Failures become a notice, and the task stays as it was."""

from collections.abc import Awaitable, Callable

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.runtime.history.actions import TaskHistory
from halocline.runtime.history.forks import Fork
from halocline.runtime.history.rewind import find_event_before
from halocline.task.task import Task

Journey = cmd.GoBack | cmd.EditMessage | cmd.Fork


async def run_history_command(
    command: Journey, task: Task, time: TaskHistory, send: Callable[[cmd.SubmitPrompt], Awaitable[object]]
) -> None:
    """Run a command; an edited message is passed to `send`."""
    try:
        match command:
            case cmd.GoBack():
                await time.go_back(command)
            case cmd.EditMessage(seq=seq, content=content, files=files):
                to = find_event_before(task.log.path, seq)
                await time.go_back(cmd.GoBack(task=command.task, to=to, files=files))
                await send(cmd.SubmitPrompt(task=command.task, content=content, client=command.client))
            case cmd.Fork(to=to, at=at):
                await time.fork(Fork(to, command.task, at))
    except HaloclineError as error:
        task.emit(ev.Noticed(f"{error.text} {error.hint}".strip()))
