"""`/queue`: the messages that wait in a task."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.message_queue import QueuedMessage
from halocline.surfaces.slash.context import SlashAnswer, SlashContext
from halocline.surfaces.slash.queue_lines import describe_wait, shorten_message

USAGE = "/queue            list what waits\n/queue send [N]   send one, or all\n/queue delete N   delete one"
EMPTY = "No message waits."


async def answer_queue(context: SlashContext, rest: str) -> SlashAnswer:
    client, task = context.client, context.task
    messages = client.state(task).queue.messages
    if not messages:
        return EMPTY
    match rest.split():
        case []:
            return "\n".join(f"{at}. {_describe_message(one)}" for at, one in enumerate(messages, 1))
        case ["send"]:
            return _send(client, task, messages)
        case ["send", number] if found := _find_message(messages, number):
            return _send(client, task, (found,))
        case ["delete", number] if found := _find_message(messages, number):
            is_deleted = await withdraw_message(client, task, found)
            return f"{'Deleted' if is_deleted else 'Too late, it waits no more'}: {shorten_message(found)}"
        case ["send" | "delete", number]:
            return f"No message {number} waits. There are {len(messages)}: see /queue"
    return USAGE


async def withdraw_message(client: Client, task: str, message: QueuedMessage) -> bool:
    """Take a message out of a task's queue, wherever the task runs. False if it was delivered before."""
    command = cmd.WithdrawQueued(task=task, message=message.id)
    if not client.is_attached(task):
        return client.send(command)
    try:
        await client.deliver(command)
    except HaloclineError:
        return False
    return True


async def complete_queue(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            return {"send ": "", "delete ": ""}
        case ["send" | "delete"]:
            messages = client.state(task).queue.messages
            return {str(at): shorten_message(one) for at, one in enumerate(messages, 1)}
    return {}


def _send(client: Client, task: str, messages: Sequence[QueuedMessage]) -> str:
    client.send(cmd.SendQueued(task=task, messages=tuple(one.id for one in messages)))
    return ""


def _find_message(messages: Sequence[QueuedMessage], number: str) -> QueuedMessage | None:
    at = int(number) if number.isdecimal() else 0
    return messages[at - 1] if 0 < at <= len(messages) else None


def _describe_message(message: QueuedMessage) -> str:
    if message.is_held:
        return f"{shorten_message(message)} (held: it waits until you send it)"
    when = describe_wait(message) or ("before the next step" if message.steers else "when this turn is done")
    return f"{shorten_message(message)} (sent {when})"
