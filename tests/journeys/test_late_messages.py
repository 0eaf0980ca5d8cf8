"""Messages to a running turn that arrive after it looked for some for the last time: none is lost."""

import asyncio
from pathlib import Path

import pytest
from tests.journeys.conftest import Journey

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason, Text
from halocline.providers.scripted.model import Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
LATE = (Text("one thing more"),)


class End:
    """A hook that holds the end of each turn back until it may go on."""

    def __init__(self, folder: Path) -> None:
        self._held, self._free = folder / "held", folder / "free"

    def install(self, workspace: Path) -> None:
        hook = workspace / ".clinerules/hooks/TaskComplete"
        hook.parent.mkdir(parents=True)
        hook.write_text(f"#!/bin/bash\ntouch '{self._held}'\nuntil [ -e '{self._free}' ]; do sleep 0.01; done\n")
        hook.chmod(0o755)

    async def is_held(self) -> None:
        while not self._held.exists():
            await asyncio.sleep(0.01)

    def release(self) -> None:
        self._free.touch()


@pytest.fixture
def end(journey: Journey, tmp_path: Path) -> End:
    journey.env = {"HOME": str(tmp_path)}
    end = End(tmp_path)
    end.install(journey.workspace)
    return end


async def wait_for_end(client: Client, task: str, number: int) -> None:
    async with asyncio.timeout(20):
        async for event in client.events(task, 0):
            number -= isinstance(event, ev.TurnEnded)
            if number == 0:
                return


async def test_a_message_that_is_late_for_its_turn_begins_the_next_one(journey: Journey, end: End):
    client = journey.client([Turn(text="Done."), Turn(text="More.", expect="one thing more")], checkpoints=False)
    await journey.open(client, YOLO)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    await end.is_held()
    client.send(cmd.Steer(task=journey.task, content=LATE))
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("later"),)))
    end.release()
    await wait_for_end(client, journey.task, 2)
    turns = [event.content[0] for event in client.past(journey.task) if isinstance(event, ev.TurnStarted)]
    assert turns[:2] == [Text("go"), LATE[0]]
    await client.close()


async def test_a_message_between_turns_begins_one(journey: Journey):
    client = journey.client([Turn(text="Done."), Turn(text="More.", expect="one thing more")], checkpoints=False)
    await journey.open(client)
    await journey.prompt(client)
    client.send(cmd.Steer(task=journey.task, content=LATE))
    await wait_for_end(client, journey.task, 2)
    assert client.state(journey.task).last_message.text == "More."
    await client.close()


async def test_a_message_to_a_turn_that_is_interrupted_waits_for_the_next_prompt(journey: Journey):
    client = journey.client([Turn(text="slow " * 500, pace=0.05), Turn(text="Both.")], checkpoints=False)
    await journey.open(client)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    async for event in client.events(journey.task, 0):
        if isinstance(event, ev.TextDelta):
            break
    client.send(cmd.Steer(task=journey.task, content=LATE))
    client.send(cmd.Interrupt(task=journey.task))
    await wait_for_end(client, journey.task, 1)
    await asyncio.sleep(0.05)
    state = client.state(journey.task)
    assert (state.turn, state.last_end.reason) == (None, StopReason.CANCELLED)
    await client.close()
