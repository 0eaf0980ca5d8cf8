from itertools import pairwise

import msgspec
import pytest
from tests.journeys.repair import PROJECT, PROMPT, REPAIRED, TURNS

from halocline.controller.assembly import Assembly
from halocline.controller.client import Client
from halocline.controller.controller import Controller, TaskOptions
from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.store.settings import Settings
from halocline.testing.model_server import ModelServer

MODELS = {
    "anthropic": "anthropic/claude-sonnet-5-5",
    "openai": "openai/gpt-5.6",
    "openai-responses": "openai-responses/gpt-5.6",
    "gemini": "gemini/gemini-3.8-flash",
    "azure": "azure/gpt-5.6",
    "azure-responses": "azure-responses/gpt-5.6",
}
KEYS = {
    "ANTHROPIC_API_KEY": "key",
    "OPENAI_API_KEY": "key",
    "GOOGLE_API_KEY": "key",
    "AZURE_OPENAI_API_KEY": "key",
}
CONVERSATIONS = {
    "anthropic": "messages",
    "openai": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "azure": "messages",
    "azure-responses": "input",
}
STEP = ["StepStarted", "UsageReported", "AssistantMessageCompleted"]
CALL = ["ToolCallStarted", "ToolCallEnded"]
KINDS = [
    *("TaskStarted", "TurnStarted"),
    *STEP,
    *CALL,
    *STEP,
    *CALL,
    *STEP,
    *("ToolCallStarted", "FileChanged", "ToolCallEnded"),
    *CALL,
    *STEP,
    *("ToolCallStarted", "TodosChanged", "ToolCallEnded"),
    *CALL,
    "TurnEnded",
]


async def play(journey, family, write_size=0):
    """The repair over loopback HTTP. Gives what the server received."""
    async with ModelServer(TURNS, write_size=write_size) as server:
        settings = Settings(base_url=server.url(family))
        client = Client(Controller(Assembly(journey.home, settings, KEYS)), "test")
        options = TaskOptions(model=MODELS[family], approval_mode=ev.ApprovalMode.YOLO)
        await journey.run(prompt=PROMPT, client=client, options=options)
    return server.requests


@pytest.fixture(autouse=True)
def project(journey):
    for name, text in PROJECT.items():
        journey.write(name, text)


def assert_the_repair_went_as_it_should(journey):
    assert [kind for kind in journey.kinds if kind != "CheckpointTaken"] == KINDS
    assert [event.label for event in journey.of(ev.CheckpointTaken)] == ["Start", "Edit shop.py"]
    assert {path.name: path.read_text() for path in journey.workspace.iterdir()} == {**PROJECT, "shop.py": REPAIRED}
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_the_repair_works_with_the_scripted_model(journey):
    await journey.run(*TURNS, prompt=PROMPT)
    assert_the_repair_went_as_it_should(journey)


@pytest.mark.parametrize("write_size", [1, 7, 0])
@pytest.mark.parametrize("family", MODELS)
async def test_the_repair_is_the_same_over_each_wire_however_its_bytes_are_cut(journey, family, write_size):
    await play(journey, family, write_size)
    assert_the_repair_went_as_it_should(journey)


async def test_on_anthropic_s_wire_results_stand_first_in_the_message_after_their_calls(journey):
    for request in await play(journey, "anthropic"):
        messages = request.body["messages"]
        asked = [ids(message, "tool_use", "id") for message in messages]
        told = [ids(message, "tool_result", "tool_use_id") for message in messages]
        assert told == [[], *asked[:-1]]
        assert asked[-1] == []
        for message, results in zip(messages, told, strict=True):
            assert [block["type"] for block in message["content"][: len(results)]] == ["tool_result"] * len(results)


def ids(message, type, field):
    return [block[field] for block in message["content"] if block["type"] == type]


async def test_on_openai_s_wire_tool_messages_follow_their_calls_directly(journey):
    for request in await play(journey, "openai"):
        waiting = []
        for message in request.body["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
            else:
                assert waiting == []
                waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert waiting == []


async def test_on_gemini_s_wire_every_call_has_its_response_in_the_content_after_it(journey):
    for request in await play(journey, "gemini"):
        contents = request.body["contents"]
        asked = [called(content, "functionCall") for content in contents]
        told = [called(content, "functionResponse") for content in contents]
        assert told == [[], *asked[:-1]]
        assert asked[-1] == []


def called(content, kind):
    return [(part[kind]["id"], part[kind]["name"]) for part in content["parts"] if kind in part]


async def test_on_the_responses_wire_results_follow_their_calls_and_reasoning_goes_back_as_it_came(journey):
    requests = await play(journey, "openai-responses")
    for request in requests:
        waiting = []
        for item in request.body["input"]:
            if item["type"] == "function_call_output":
                assert item["call_id"] == waiting.pop(0)
            elif item["type"] == "function_call":
                waiting.append(item["call_id"])
            else:
                assert waiting == []
        assert waiting == []
    thought = [item for item in requests[-1].body["input"] if item["type"] == "reasoning"]
    assert len(thought) == sum(bool(turn.thinking) for turn in TURNS[:-1])
    assert all(item["encrypted_content"] and item["summary"] for item in thought)


@pytest.mark.parametrize("family", MODELS)
async def test_the_system_prompt_and_the_tools_are_the_same_bytes_in_every_request(journey, family):
    requests = await play(journey, family)
    heads = {request.raw.partition(b'"%s":[' % CONVERSATIONS[family].encode())[0] for request in requests}
    assert len(heads) == 1
    assert len({msgspec.json.encode(request.body["tools"]) for request in requests}) == 1
    if not family.startswith("azure"):
        assert b'"tools":[' in heads.pop()
    if family == "openai":
        assert len({msgspec.json.encode(request.body["messages"][0]) for request in requests}) == 1


@pytest.mark.parametrize("family", MODELS)
async def test_the_messages_of_each_request_begin_those_of_the_next(journey, family):
    requests = await play(journey, family)
    conversations = [request.body[CONVERSATIONS[family]] for request in requests]
    sent = [[msgspec.json.encode(unmarked(message)) for message in messages] for messages in conversations]
    assert len(sent) == len(TURNS)
    for one, following in pairwise(sent):
        assert following[: len(one)] == one
        assert len(following) > len(one)


def unmarked(message):
    """A message without Anthropic's marks for the cache, which move on with the conversation."""
    if not isinstance(message.get("content"), list):
        return message
    blocks = [{k: v for k, v in block.items() if k != "cache_control"} for block in message["content"]]
    return {**message, "content": blocks}
