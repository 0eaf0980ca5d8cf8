"""Servers that refuse tools, each in its own words: the task goes on with calls in the text."""

import json

import pytest
from tests.journeys.test_refused_pictures import Visit
from tests.providers.markup import spoken
from tests.servers.model_server import ModelServer, Refusal

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn

REFUSALS = [
    (400, {"error": "registry.ollama.ai/library/x does not support tools"}),
    (404, {"error": {"message": "No endpoints found that support tool use.", "code": 404}}),
    (
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "code": 400,
        },
    ),
    (403, {"error": {"message": "Function calling not allowed"}}),
    (500, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}),
]


@pytest.mark.parametrize("family", ["openai", "gemini"])
@pytest.mark.parametrize(("status", "document"), REFUSALS)
async def test_a_model_whose_server_refuses_tools_calls_them_in_its_text(journey, family, status, document):
    journey.write("a.txt", "alpha\n")
    turns = [spoken(Turn(calls=(Call("read_file", {"path": "a.txt"}),))), Turn(text="It says alpha.")]

    def refuse(asked):
        return Refusal(status, document) if asked.body.get("tools") else None

    async with ModelServer(turns, refuses=refuse) as server:
        end = await Visit(journey, server, family).say("read it")
        assert end.reason is StopReason.END_TURN, journey.of(ev.ErrorRaised)
        assert ["tools" in asked.body for asked in server.requests] == [True, False, False]
        assert "read_file" in json.dumps(server.requests[1].body)
    assert "alpha" in journey.results[0]
    assert "From now on" in journey.of(ev.StepRetried)[0].cause
