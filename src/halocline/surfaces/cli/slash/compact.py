"""`/compact`: shorten what the model reads, or take the latest time back. Between turns it is waited for."""

import asyncio

from halocline.client import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.surfaces.cli.output.view import View

UNDO = "undo"


async def answer_compact(rest: str, client: Client, task: str, view: View) -> str:
    """What is said to `/compact` with this behind it."""
    state = client.state(task)
    command = cmd.Compact(task=task, undo=True) if rest == UNDO else cmd.Compact(task=task, focus=rest)
    client.send(command)
    if state.turn is not None:
        return "That is done before the next request."
    if rest != UNDO:
        view.say("Shortening what the model reads. Ctrl-C leaves it as it is.")
    try:
        return await _describe_outcome(client, task, state.seq)
    except asyncio.CancelledError:
        client.send(cmd.Interrupt(task=task))
        raise


async def _describe_outcome(client: Client, task: str, after: int) -> str:
    async for event in client.events(task, after):
        match event:
            case ev.Compacted() | ev.CompactionUndone() | ev.ErrorRaised():
                return ""  # each is shown as what it is
    return ""
