"""Takes messages that wait back from a task, wherever it runs."""

from halocline.client import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.message_queue import QueuedMessage


async def withdraw_message(client: Client, task: str, message: QueuedMessage) -> bool:
    """Take a message out of a task's queue. False if it was delivered before."""
    command = cmd.WithdrawQueued(task=task, message=message.id)
    if not client.is_attached(task):
        return client.send(command)
    try:
        await client.deliver(command)
    except HaloclineError:
        return False
    return True
