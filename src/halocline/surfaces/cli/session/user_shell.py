"""The user's own command (`!`)."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import TaskBusy
from halocline.surfaces.terminal.view import is_own


class OwnCommand:
    """A command that was sent. Its run is known once its start event arrives, as another process may run it."""

    def __init__(self, client: Client, task: str, command: str) -> None:
        """Send the command. Raises UsageError."""
        self._client = client
        self._task = task
        self._run = ""
        client.send(cmd.RunCommand(task=task, command=command))

    async def show_to_end(self, events: AsyncIterator[ev.Event], show: Callable[[ev.Event], None]) -> bool:
        """Show events up to the command's end. False when the task was closed, by a signal or by its writer."""
        async for event in events:
            show(event)
            if self._ends_with(event):
                return True
        return False

    def _ends_with(self, event: ev.Event) -> bool:
        """Take in an event. True if it ends the command."""
        match event:
            case ev.OwnCommandStarted(run=run, client=name) if not self._run and is_own(self._client, self._task, name):
                self._run = run
            case ev.OwnCommandEnded(run=run):
                return run == self._run
            case ev.Noticed():
                return not self._run and self._client.is_attached(
                    self._task
                )  # refused by the process that runs the task
        return False

    def leave(self) -> None:
        """Let it continue as a background job."""
        if self._run:
            self._client.send(cmd.LeaveRunning(task=self._task, run=self._run))


def list_own(client: Client, task: str) -> list[ev.OwnCommandStarted]:
    """List the commands that the person runs from here."""
    return [one for one in client.state(task).user_commands.running if is_own(client, task, one.client)]


def stop_own_command(client: Client, task: str) -> bool:
    """Stop the newest command that the person runs from here. False if there is none, or it is stopping already."""
    own = list_own(client, task)
    with suppress(TaskBusy):  # the process that ran it is gone
        return bool(own) and client.send(cmd.StopCommand(task=task, run=own[-1].run))
    return False
