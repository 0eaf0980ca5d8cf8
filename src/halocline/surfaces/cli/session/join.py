"""Join a task that another process runs: show it, and let a person take part."""

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol.messages import UserPart
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.session.closing import close_client, describe_last, finish_run
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.session.following_tasks import follow_switches
from halocline.surfaces.cli.session.task_switch import before_the_turn
from halocline.surfaces.terminal.view import View


async def join_task(
    client: Client,
    task: str,
    view: View,
    prompt: str = "",
    along: tuple[UserPart, ...] = (),
    server: str | None = None,
) -> int:
    """Show the task and let a person take part; `server` is given by a flag. Returns the exit code."""
    try:
        async with view:
            await client.join(task, TaskOptions(attended=view.asks, asks_again=view.asks))
            past = client.past(task)
            before = before_the_turn(past)
            view.recall(past[:before])
            code, task = await _take_part(client, task, view, prompt, along, before)
            last = describe_last(client, task)
    finally:
        await close_client(client)
    finish_run(client, last, stays=view.asks, is_moved=bool(server))
    return code


async def _take_part(
    client: Client, task: str, view: View, prompt: str, along: tuple[UserPart, ...], after: int
) -> tuple[int, str]:
    """Return the exit code and the last task: the person may have switched from `task` to another."""
    if view.asks:
        conversation = Conversation(client, task, view, None, along, stays=True)
        code = await conversation.run(prompt, after)
        code, conversation = await follow_switches(conversation, code, client, TaskOptions(attended=True), view)
        return code, conversation.task
    view.follow_task(client, task)
    async for event in client.events(task, after):
        view.show(event)
    return ExitCode.FINISHED, task
