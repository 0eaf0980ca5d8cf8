"""`halo attach`: watch and drive a task that another process runs."""

import argparse
from collections.abc import Sequence
from contextlib import suppress

from halocline.client import Choices, Client, TaskOptions, open_client
from halocline.protocol import events as ev
from halocline.protocol.errors import TaskBusy
from halocline.protocol.messages import UserPart
from halocline.surfaces import event_loop
from halocline.surfaces.cli.commands.run import on_terminal
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.output.line_mode import LineMode
from halocline.surfaces.cli.output.view import View
from halocline.surfaces.cli.session.conversation import Conversation, close_client
from halocline.surfaces.cli.stderr import describe_left, print_message


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    view = LineMode(attended=on_terminal() and not arguments.watch)
    return event_loop.run_loop(join_task(client, client.find(arguments.id), view))


async def join_task(client: Client, task: str, view: View, prompt: str = "", along: tuple[UserPart, ...] = ()) -> int:
    """Show the task and let a person take part. Returns the exit code."""
    writer, is_empty = "", False
    try:
        async with view:
            await client.join(task, TaskOptions(attended=view.asks, asks_again=view.asks))
            past = client.past(task)
            before = before_the_turn(past)
            view.recall(past[:before])
            code, task = await _take_part(client, task, view, prompt, along, before)
            state, is_elsewhere = client.state(task), client.is_attached(task)
            writer = client.tasks.writer(task) if is_elsewhere else ""
            is_empty = not is_elsewhere and state.is_empty
    finally:
        await close_client(client)
    if is_empty:
        with suppress(TaskBusy):  # a peer that joined continues it
            client.tasks.forget(task)
    if writer:
        print_message(describe_left(task, writer))
    return code


async def _take_part(
    client: Client, task: str, view: View, prompt: str, along: tuple[UserPart, ...], after: int
) -> tuple[int, str]:
    """Return the exit code and the last task: the person may have switched from `task` to another."""
    if view.asks:
        return await _run_conversation(client, task, view, prompt, along, after)
    async for event in client.events(task, after):
        view.show(event)
    return ExitCode.FINISHED, task


async def _run_conversation(
    client: Client, task: str, view: View, prompt: str, along: tuple[UserPart, ...], after: int
) -> tuple[int, str]:
    conversation = Conversation(client, task, view, None, along, stays=True)
    code = await conversation.run(prompt, after)
    while conversation.goes_on:
        from halocline.surfaces.cli.session.task_switch import goes_on_elsewhere, next_task

        if goes_on_elsewhere(client, conversation, task, view):
            break

        then = await next_task(client, conversation, task, TaskOptions(attended=True), view)
        task, conversation = then.task, Conversation(client, then.task, view, stays=True)
        code = await conversation.run(then.prompt, then.after, typed=False)
    return code, task


def before_the_turn(past: Sequence[ev.DurableEvent]) -> int:
    """Number of events before the running turn; all of them when none is running."""
    began = max((at for at, event in enumerate(past) if isinstance(event, ev.TurnStarted)), default=len(past))
    over = any(isinstance(event, ev.TurnEnded) for event in past[began:])
    return len(past) if over else began
