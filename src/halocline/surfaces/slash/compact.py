"""`/compact` (between turns, it waits) and `/btw`, a question that the conversation does not keep."""

import asyncio
from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashMarkdown

UNDO = "undo"
QUESTION = "Type the question after it: /btw why is this file generated? The conversation does not keep it."


async def answer_compact(context: SlashContext, rest: str) -> SlashAnswer:
    client, task = context.client, context.task
    state = client.state(task)
    command = cmd.Compact(task=task, undo=True) if rest == UNDO else cmd.Compact(task=task, focus=rest)
    client.send(command)
    if state.turn is not None:
        return "This will happen before the next request."
    if rest != UNDO:
        context.view.say("Compacting the conversation. Press Ctrl-C to cancel.")
    try:
        return await _describe_outcome(client, task, state.seq)
    except asyncio.CancelledError:
        client.send(cmd.Interrupt(task=task))
        raise


async def complete_compact(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {UNDO: "restore the conversation as it was before the last compaction"}


async def _describe_outcome(client: Client, task: str, after: int) -> str:
    async for event in client.events(task, after):
        match event:
            case ev.Compacted() | ev.CompactionUndone() | ev.ErrorRaised():
                return ""  # the event itself is shown
    return ""


async def answer_btw(context: SlashContext, rest: str) -> SlashAnswer:
    if not rest:
        return QUESTION
    answer = ""
    async for text in context.client.ask_aside(context.task, rest):
        answer = text
    return SlashMarkdown(answer)
