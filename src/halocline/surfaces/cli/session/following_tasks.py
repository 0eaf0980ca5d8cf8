"""The tasks that follow the first one of a run, in the same view: a hand-over, `/clear`, `/resume ID`."""

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.terminal.view import View


async def follow_switches(
    conversation: Conversation, code: int, client: Client, options: TaskOptions, view: View
) -> tuple[int, Conversation]:
    """Run the conversations that follow one which ended with `code`. Returns the last one and its exit code."""
    while conversation.goes_on:
        from halocline.surfaces.cli.session.task_switch import goes_on_elsewhere, open_next_task

        if goes_on_elsewhere(client, conversation, view):
            break
        then = await open_next_task(client, conversation, options, view)
        conversation = conversation.switch_to(then.task)
        code = await conversation.run(then.prompt, then.after, typed=False)
    return code, conversation
