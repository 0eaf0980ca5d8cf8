from itertools import pairwise

import msgspec
import pytest
from tests.journeys.repair import PROJECT, PROMPT, REPAIRED, TURNS
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Effort, StopReason
from halocline.providers.scripted.model import Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

MODELS = {
    "anthropic": "anthropic/claude-sonnet-5-5",
    "openai": "openai/gpt-5.6",
    "openai-responses": "openai-responses/gpt-5.6",
    "gemini": "gemini/gemini-3.8-flash",
    "azure-chat": "azure-chat/gpt-5.6",
    "azure-responses": "azure-responses/gpt-5.6",
}
KEYS = {
    "ANTHROPIC_API_KEY": "key",
    "OPENAI_API_KEY": "key",
    "GOOGLE_API_KEY": "key",
    "DEEPSEEK_API_KEY": "key",
    "AZURE_OPENAI_API_KEY": "key",
}
CONVERSATIONS = {
    "anthropic": "messages",
    "openai": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "azure-chat": "messages",
    "azure-responses": "input",
}
WISHES = {
    "unasked": {},
    "effort": {"effort": Effort.HIGH},
    "budget": {"thinking_budget": 4096},
}
every_wish = pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
THOUGHT = TURNS[0].thinking
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


async def play(journey, family, write_size=0, turns=TURNS, prompt=PROMPT, model="", resume="", **settings):
    """The repair over loopback HTTP. Gives what the server received."""
    async with ModelServer(turns, write_size=write_size) as server:
        settings = Settings(base_url=server.url(family), **settings)
        client = Client(Controller(Assembly(journey.home, settings, KEYS)), "test")
        options = TaskOptions(model=model or MODELS[family], approval_mode=ApprovalMode.YOLO)
        await journey.run(prompt=prompt, client=client, options=options, resume=resume)
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


@every_wish
@pytest.mark.parametrize("family", MODELS)
async def test_the_system_prompt_and_the_tools_are_the_same_bytes_in_every_request(journey, family, wish):
    requests = await play(journey, family, **wish)
    heads = {request.raw.partition(b'"%s":[' % CONVERSATIONS[family].encode())[0] for request in requests}
    assert len(heads) == 1
    assert len({msgspec.json.encode(request.body["tools"]) for request in requests}) == 1
    if not family.startswith("azure"):
        assert b'"tools":[' in heads.pop()
    if family == "openai":
        assert len({msgspec.json.encode(request.body["messages"][0]) for request in requests}) == 1


@every_wish
@pytest.mark.parametrize("family", MODELS)
async def test_the_messages_of_each_request_begin_those_of_the_next(journey, family, wish):
    requests = await play(journey, family, **wish)
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


SENT = {
    "anthropic": lambda body: (body["thinking"]["type"], body["output_config"]["effort"]),
    "openai": lambda body: body["reasoning_effort"],
    "openai-responses": lambda body: (body["reasoning"]["summary"], body["reasoning"]["effort"]),
    "gemini": lambda body: body["generationConfig"]["thinkingConfig"],
    "azure-chat": lambda body: body["reasoning_effort"],
    "azure-responses": lambda body: (body["reasoning"]["summary"], body["reasoning"]["effort"]),
}
EXPECTED = {
    "anthropic": ("adaptive", "high"),
    "openai": "high",
    "openai-responses": ("auto", "high"),
    "gemini": {"includeThoughts": True, "thinkingLevel": "high"},
    "azure-chat": "high",
    "azure-responses": ("auto", "high"),
}


@pytest.mark.parametrize("family", MODELS)
async def test_every_request_says_how_hard_to_think(journey, family):
    for request in await play(journey, family, effort=Effort.HIGH):
        assert SENT[family](request.body) == EXPECTED[family]


async def test_an_older_claude_is_given_a_budget_and_may_think_between_calls(journey):
    for request in await play(journey, "anthropic", model="anthropic/claude-haiku-4-5", thinking_budget=5_000):
        assert request.body["thinking"] == {"type": "enabled", "budget_tokens": 5_000}
        assert request.body["max_tokens"] == 64_000
        assert request.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
        assert not request.body.keys() & {"temperature", "tool_choice"}


REPLAYED = {
    "anthropic/claude-haiku-4-5": lambda body: body["messages"][1]["content"][0],
    "anthropic/claude-sonnet-5-5": lambda body: body["messages"][1]["content"][0],
    "gemini/gemini-3.8-flash": lambda body: body["contents"][1]["parts"][0],
    "deepseek/deepseek-v4-pro": lambda body: {"reasoning_content": body["messages"][2]["reasoning_content"]},
}
SIGNED = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmVk"}
AS_IT_CAME = {
    "anthropic/claude-haiku-4-5": SIGNED,
    "anthropic/claude-sonnet-5-5": SIGNED,
    "gemini/gemini-3.8-flash": {"text": THOUGHT, "thought": True},
    "deepseek/deepseek-v4-pro": {"reasoning_content": THOUGHT},
}


@pytest.mark.parametrize("model", REPLAYED)
async def test_thoughts_go_back_as_they_came_in_every_later_request(journey, model):
    family = model.partition("/")[0]
    for request in (await play(journey, family, model=model, effort=Effort.HIGH))[1:]:
        assert REPLAYED[model](request.body) == AS_IT_CAME[model]


async def test_gemini_s_signature_goes_back_at_the_call_that_it_came_with(journey):
    for request in (await play(journey, "gemini", effort=Effort.HIGH))[1:]:
        (signed,) = [part for part in request.body["contents"][1]["parts"] if "functionCall" in part]
        assert signed["thoughtSignature"] not in ("", "skip_thought_signature_validator")


@pytest.mark.parametrize("after", MODELS)
@pytest.mark.parametrize("before", MODELS)
async def test_another_provider_never_reads_the_thoughts(journey, before, after):
    if before == after:
        return
    await play(journey, before, effort=Effort.HIGH)
    again = {"turns": [Turn(text="Well.")], "prompt": "And now?", "resume": journey.task}
    (request,) = await play(journey, after, effort=Effort.HIGH, **again)
    assert TURNS[0].text.encode() in request.raw
    for thought in (THOUGHT.encode(), b"c2lnbmVk", b"c2VjcmV0"):
        assert thought not in request.raw


async def test_another_claude_never_reads_the_thoughts_either(journey):
    await play(journey, "anthropic", model="anthropic/claude-sonnet-5-5")
    again = {"turns": [Turn(text="Well.")], "prompt": "And now?", "resume": journey.task}
    (request,) = await play(journey, "anthropic", model="anthropic/claude-opus-5-5", **again)
    assert TURNS[0].text.encode() in request.raw
    assert THOUGHT.encode() not in request.raw


async def test_thoughts_go_back_when_a_task_is_resumed_with_the_same_model(journey):
    await play(journey, "anthropic")
    again = {"turns": [Turn(text="Well.")], "prompt": "And now?", "resume": journey.task}
    (request,) = await play(journey, "anthropic", **again)
    assert request.body["messages"][1]["content"][0] == SIGNED


async def test_the_text_protocol_passes_the_wish_on(journey):
    (request,) = await play(journey, "openai", turns=[Turn(text="Well.")], effort=Effort.LOW, text_tools=("*",))
    assert request.body["reasoning_effort"] == "low"
    assert "tools" not in request.body
