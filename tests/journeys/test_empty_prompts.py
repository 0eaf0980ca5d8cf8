"""A prompt with nothing in it starts no turn, whichever command brings it: vendors refuse its request."""

import asyncio

import pytest
from tests.journeys.test_time_travel import until

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text
from halocline.providers.scripted.script import Call, Turn
from halocline.runtime.controller import TaskOptions

EMPTY = {"no part": (), "no text": (Text(""),), "blanks": (Text(" \n\t"), Text(""))}
DONE = Turn(text="Done.")


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("verbatim", [False, True])
async def test_an_empty_prompt_is_refused(journey, content, verbatim):
    client = journey.client([DONE])
    await journey.open(client)
    before = client.state(journey.task).seq
    for send in (client.pass_on, client.deliver):
        with pytest.raises(UsageError, match="The message is empty"):
            await send(cmd.SubmitPrompt(task=journey.task, content=content, verbatim=verbatim))
    for command in (cmd.SubmitPrompt, cmd.Steer):
        with pytest.raises(UsageError, match="The message is empty"):
            client.send(command(task=journey.task, content=content))
    assert client.state(journey.task).seq == before
    await client.close()


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
async def test_an_empty_message_during_a_turn_answers_nothing(journey, content):
    client = journey.client([Turn(calls=(Call("ask_followup_question", {"question": "Which?"}),)), DONE])
    await journey.open(client, TaskOptions(attended=True))
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("hi"),)))
    await until(client, journey, ev.QuestionAsked)
    with pytest.raises(UsageError, match="The message is empty"):
        client.send(cmd.Steer(task=journey.task, content=content))
    assert client.state(journey.task).pending.questions
    await client.close()


async def test_a_prompt_is_not_replaced_by_an_empty_one(journey):
    client = journey.client([DONE, DONE])
    await journey.open(client)
    await journey.prompt(client, "first")
    before = client.state(journey.task).messages
    hearing = asyncio.create_task(until(client, journey, ev.Noticed))
    await asyncio.sleep(0)
    seq = next(event.seq for event in journey.logged if isinstance(event, ev.TurnStarted))
    client.send(cmd.EditMessage(task=journey.task, seq=seq, content=(Text(" "),)))
    assert "The message is empty" in (await hearing).text
    assert client.state(journey.task).messages == before
    await client.close()
