"""`/btw`: a question beside the conversation, which the conversation does not keep."""

from contextlib import asynccontextmanager

import pytest
from tests.journeys.test_wire import CONVERSATIONS, KEYS, MODELS
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import ModelError, UsageError
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text, Usage
from halocline.providers.scripted.model import Turn
from halocline.providers.scripted.script import Call
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

USED = Usage(input=900, output=30)


@asynccontextmanager
async def opened(journey, *turns, family="anthropic", **more):
    """A client with an open task, and the server of its model."""
    async with ModelServer(turns) as server:
        settings = Settings(base_url=server.url(family), sandbox="off", **more)
        client = Client(Controller(Assembly(journey.home, settings, KEYS)), "test")
        await journey.open(client, TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO))
        try:
            yield client, server
        finally:
            journey.state = client.state(journey.task)
            await client.close()


async def ask(journey, client, question="Why is it generated?"):
    return [text async for text in client.ask_aside(journey.task, question)]


@pytest.mark.parametrize("family", ["anthropic", "openai", "openai-responses", "gemini"])
async def test_its_request_is_the_conversation_and_the_question_and_the_conversation_keeps_nothing(journey, family):
    turns = (Turn(text="Made."), Turn(text="By the **build**.", usage=USED), Turn(text="Done."))
    async with opened(journey, *turns, family=family) as (client, server):
        await journey.prompt(client, "make it")
        said = await ask(journey, client)
        await journey.prompt(client, "go on")
    assert said[-1] == "By the **build**."
    first, aside, after = (request.body for request in server.requests)
    name = CONVERSATIONS[family]
    assert "Why is it generated?" in str(aside[name][-1])
    assert "Why is it generated?" not in str(after)
    assert "By the **build**" not in str(after)
    assert first[name] == aside[name][: len(first[name])]
    assert aside["tools"] == first["tools"] == after["tools"]


async def test_the_log_holds_what_it_cost_and_nothing_else(journey):
    async with opened(journey, Turn(text="Made.", usage=USED), Turn(text="By hand.", usage=USED)) as (client, _):
        await journey.prompt(client, "make it")
        before = client.state(journey.task)
        await ask(journey, client)
    (event,) = [event for event in journey.logged if isinstance(event, ev.SideQuestionAnswered)]
    assert (event.model, event.usage) == (MODELS["anthropic"], USED)
    assert event.cost is not None
    assert event.cost > 0
    assert journey.logged[-1] == event
    assert journey.state.messages == before.messages
    assert journey.state.budget.usage == before.budget.usage + USED
    assert journey.state.budget.last_usage == before.budget.last_usage
    assert journey.state.budget.cost == before.budget.cost + event.cost


async def test_it_is_answered_while_a_turn_runs_and_does_not_disturb_it(journey):
    wait = Turn(calls=(Call("execute_command", {"command": "until test -e go; do sleep 0.05; done"}, id="c1"),))
    async with opened(journey, wait, Turn(text="It waits."), Turn(text="Done.")) as (client, _):
        client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("wait"),)))
        async for event in client.events(journey.task, 0):
            if isinstance(event, ev.ToolCallStarted):
                assert (await ask(journey, client))[-1] == "It waits."
                journey.write("go", "")
            if isinstance(event, ev.TurnEnded):
                break
    assert [name for event in journey.logged if (name := type(event).__name__) != "CheckpointTaken"][-7:] == [
        "ToolCallStarted",
        "SideQuestionAnswered",
        "ToolCallEnded",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "TurnEnded",
    ]
    assert journey.state.last_message.text == "Done."


async def test_a_call_in_the_answer_is_not_carried_out(journey):
    call = Call("write_to_file", {"path": "made.txt", "content": "x\n"}, id="c1")
    async with opened(journey, Turn(text="Made."), Turn(calls=(call,))) as (client, _):
        await journey.prompt(client, "make it")
        with pytest.raises(ModelError, match="gave no answer"):
            await ask(journey, client)
    assert not (journey.workspace / "made.txt").exists()
    assert isinstance(journey.logged[-1], ev.SideQuestionAnswered)


async def test_where_another_process_runs_the_task_it_says_so(journey):
    async with opened(journey, Turn(text="Made.")) as (client, _):
        await journey.prompt(client, "make it")
        other = Client(Controller(Assembly(journey.home, Settings(sandbox="off"), KEYS)), "other")
        await other.join(journey.task, TaskOptions())
        with pytest.raises(UsageError, match="Another process"):
            await ask(journey, other)
        await other.close()


async def test_one_that_does_not_fit_into_the_limit_of_its_task_is_not_sent(journey):
    made = Turn(text="Made.", usage=Usage(input=29_000, output=30))
    async with opened(journey, made, token_limit=30_000) as (client, server):
        await journey.prompt(client, "make it")
        with pytest.raises(ModelError, match="does not fit into the limit of 30,000 tokens: 29,030 are spent"):
            await ask(journey, client)
        assert len(server.requests) == 1
