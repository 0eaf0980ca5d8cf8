"""`/compact`: compact the conversation, or undo the last compaction. Between turns, wait for it."""

import asyncio

from halocline.client import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.surfaces.cli.output.view import View

UNDO = "undo"


async def answer_compact(rest: str, client: Client, task: str, view: View) -> str:
    """Answer `/compact`."""
    state = client.state(task)
    command = cmd.Compact(task=task, undo=True) if rest == UNDO else cmd.Compact(task=task, focus=rest)
    client.send(command)
    if state.turn is not None:
        return "This will happen before the next request."
    if rest != UNDO:
        view.say("Compacting the conversation. Press Ctrl-C to cancel.")
    try:
        return await _describe_outcome(client, task, state.seq)
    except asyncio.CancelledError:
        client.send(cmd.Interrupt(task=task))
        raise


async def _describe_outcome(client: Client, task: str, after: int) -> str:
    async for event in client.events(task, after):
        match event:
            case ev.Compacted() | ev.CompactionUndone() | ev.ErrorRaised():
                return ""  # the event itself is shown
    return ""
