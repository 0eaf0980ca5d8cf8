"""Actions of a person on a task of the board, whichever process runs it: decide, stop, resume."""

import asyncio

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import CONTINUE, Note
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import CARRY_ON


async def send_command(client: Client, command: cmd.AnyCommand) -> bool:
    """Send a command to the process that runs a task, which may be this one. False if it came too late.

    Raises HaloclineError: no process runs it, or that process refuses.
    """
    if client.is_open(command.task) and not client.is_attached(command.task):
        return await client.pass_on(command)
    await client.tasks.deliver(command, client.name)
    return True


async def stop_task(client: Client, task: str) -> None:
    """Stop the turn of a task, or its wait for others; in the background it is closed. Raises HaloclineError."""
    process = client.tasks.writer(task)
    await send_command(client, cmd.Interrupt(task=task))
    if process and process == client.background.pid:
        await send_command(client, cmd.CloseTask(task=task))


async def resume_task(client: Client, task: str) -> None:
    """Have the background process take up a task that no process runs. Raises HaloclineError.

    What it asked is asked again, what it waited for is waited for; otherwise it is told to continue.
    """
    state = await asyncio.to_thread(lambda: fold_events(client.past(task)))
    waits = state.is_asking or (state.turn is None and state.queue.messages)
    content = () if waits else (Note(CARRY_ON, CONTINUE),)
    service = client.background
    await service.hand_over(service.make_resumption(task, state.workspace, content))
