"""A model's server refuses a request because of one MCP tool, in each vendor's words: the task goes on without it."""

import re

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import NO_SERVERS
from tests.journeys.soundness import assert_sound
from tests.journeys.test_mcp import servers as servers
from tests.journeys.test_wire import KEYS, MODELS
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.sections import McpSettings
from halocline.store.settings.settings import Settings

WORDS = [
    ("anthropic", "tools.{at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"),
    ("anthropic", "tools.{at}.custom.input_schema.properties: Property keys should match pattern '^[a-z]$'"),
    ("anthropic", "tools.{at}.FrontendRemoteMcpToolDefinition.name: String should have at most 64 characters"),
    ("openai", "Invalid 'tools[{at}].function.description': string too long. Expected maximum length 1024"),
    ("openai", "Invalid schema for function '{name}': In context=('properties', 'x'), array schema missing items"),
    ("openai", "[{{'type': 'literal_error', 'loc': ('body', 'tools', {at}, 'function'), 'msg': 'Input should be'}}]"),
    ("openai-responses", "Invalid schema for function '{name}': schema must have type 'object' and not have 'oneOf'"),
    (
        "gemini",
        "* GenerateContentRequest.tools[0].function_declarations[{at}].parameters.properties[a]: missing.",
    ),
    ("gemini", "Invalid value at 'tools[0].function_declarations[{at}].parameters.properties[8].value.type'"),
]


def offered(body):
    """The names of the tools in a request, in any vendor's format."""
    for tool in body.get("tools", ()):
        for function in tool.get("functionDeclarations") or [tool.get("function", tool)]:
            yield function["name"]


def refusing(words, *bad):
    """Refuse a request for the first bad tool in it."""

    def refuse(request):
        names = list(offered(request.body))
        found = next((name for name in names if name in bad), "")
        return words.format(at=names.index(found), name=found) if found else ""

    return refuse


async def play(journey, family, refuses, prompts=1):
    async with ModelServer([Turn(text="done")] * prompts, refuses=refuses) as server:
        journey.settings = Settings(
            base_url=server.url(family), checkpoints=False, language_servers=NO_SERVERS, mcp=McpSettings(wait=20.0)
        )
        client = Client(Controller(Assembly(journey.home, journey.settings, journey.env | KEYS)), "test")
        try:
            await journey.open(client, TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO))
            await journey.prompt(client, after=0)
            heard = journey.events
            for _ in range(prompts - 1):
                await journey.prompt(client, "go on")
            journey.events = heard
        finally:
            await client.close()
    replayed = await journey.replay()
    assert replayed.differences == (), replayed
    return server.requests


@pytest.mark.parametrize(("family", "words"), WORDS)
async def test_the_tool_that_a_server_names_is_left_out_and_the_person_hears_why(journey, servers, family, words):
    servers(test="")
    requests = await play(journey, family, refusing(words, "test__look"), prompts=2)
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert_sound(journey.logged)
    with_it = ["test__look" in offered(request.body) for request in requests]
    assert with_it == [True, False, False]
    assert all("test__echo" in offered(request.body) for request in requests)
    (said,) = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    assert re.match(r"The tool look of the MCP server test is left out for this model. .* rejected the request", said)
    assert [event.tool for event in journey.of(ev.McpToolRefused)] == ["test__look"]


async def test_another_model_is_offered_a_tool_that_one_refused(journey, servers):
    servers(test="")
    await play(journey, "anthropic", refusing(WORDS[0][1], "test__look"))
    async with ModelServer([Turn(text="done")] * 2) as server:
        for family, with_it in (("openai", True), ("anthropic", False)):
            journey.settings = replace(journey.settings, base_url=server.url(family))
            client = Client(Controller(Assembly(journey.home, journey.settings, journey.env | KEYS)), "test")
            options = TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO)
            await journey.run(client=client, options=options, resume=journey.task)
            assert ("test__look" in offered(server.requests[-1].body)) is with_it
    assert (await journey.replay()).differences == ()


async def test_several_bad_tools_each_cost_one_request(journey, servers):
    servers(test="", other="")
    requests = await play(journey, "anthropic", refusing(WORDS[0][1], "test__look", "other__echo", "other__look"))
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert len(requests) == 4
    assert journey.state.mcp.refused == {MODELS["anthropic"]: {"test__look", "other__echo", "other__look"}}


@pytest.mark.parametrize(
    "words", ["tools.0.custom.input_schema: bad", "tools.999: bad", "Bad Request", "messages.3: test__look is odd"]
)
async def test_a_refusal_that_names_no_tool_of_a_server_ends_the_turn(journey, servers, words):
    servers(test="")
    requests = await play(journey, "anthropic", lambda request: words)
    assert journey.state.last_end.reason is StopReason.ERROR
    assert len(requests) == 1
    assert journey.of(ev.McpToolRefused) == []
