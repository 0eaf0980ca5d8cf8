"""Servers that refuse a part of a request for ever: in every family and in many words, the next request works."""

import json
import re

import pytest
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, only, request
from tests.servers.model_server import ModelServer, Refusal
from tests.tables import for_each

from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError
from halocline.protocol.events import StepRetried
from halocline.protocol.messages import AssistantMessage, Text, Thinking, ToolCall, ToolResult
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.gemini.request import Gemini
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.scripted.model import Turn

FAMILIES = {
    "openai": OpenAIChat,
    "deepseek": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
}
OPAQUE = {"openai-responses": {"redacted": '{"type":"reasoning","id":"rs_1","encrypted_content":"abc","summary":[]}'}}
SPEC = ToolSpec("look", "Look.", {"type": "object", "properties": {"strict": {"type": "string"}}})


def said(message, status=400, **more):
    return status, {"error": {"message": message, **more}}


def of_fastapi(*place, says):
    return 422, {"detail": [{"loc": ["body", *place], "msg": says}]}


def sends(pattern):
    """True for a body in which this is, as JSON."""
    return lambda body: re.search(pattern, json.dumps(body)) is not None


def has_no_content(body):
    return any(message.get("content") is None for message in body["messages"])


def has_odd_ids(body):
    return any(len(call["id"]) != 9 for message in body["messages"] for call in message.get("tool_calls", ()))


def exceeds(most):
    return lambda body: body.get("max_tokens", 0) > most


SYSTEM_WORDS = [
    said("System role not supported"),
    said("Jinja template error: System role not supported", 500),
    said("Only user and assistant roles are supported!"),
    said("invalid role: system"),
    (422, {"detail": "role must be one of user, assistant"}),
]
NULL_WORDS = [
    said("Invalid value for 'content': expected a string, got null.", param="messages.[2].content"),
    of_fastapi("messages", 2, "content", says="none is not an allowed value"),
    said("messages[2]: missing field `content`"),
    said("messages.1.content: Input should be a valid string"),
    said("[json.exception.type_error.302] type must be string, but is null", 500),
]
CACHE_WORDS = [
    said("messages.0.content.0.cache_control: Extra inputs are not permitted"),
    of_fastapi("system", 0, "cache_control", says="extra fields not permitted"),
]
REFUSED = [
    ("openai", sends('"role": "system"'), SYSTEM_WORDS),
    ("gemini", sends("systemInstruction"), [said("Developer instruction is not enabled for models/gemma-3-27b-it")]),
    ("anthropic", sends(r'"system": \['), [said("system: Input should be a valid string")]),
    ("anthropic", sends("cache_control"), CACHE_WORDS),
    ("openai", has_no_content, NULL_WORDS),
    ("openai", has_odd_ids, [said("Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9.")]),
    ("openai", sends('"content": (""|null)'), [said("messages.2: content must not be empty")]),
    ("deepseek", exceeds(8192), [said("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")]),
    ("deepseek", exceeds(12288), [said("Model Parameter max_tokens should be less than or equal to 12288.0.")]),
    ("anthropic", exceeds(4096), [said("max_tokens: 64000 > 4096, which is the maximum for claude-3-9999")]),
    ("anthropic", exceeds(4096), [said("max_tokens must be at most 4,096")]),
    (
        "deepseek",
        sends('"max_tokens"'),
        [said("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")],
    ),
    ("anthropic", sends('"signature"'), [said("messages.1.content.0: Invalid `signature` in `thinking` block")]),
    ("openai-responses", sends('"rs_1"'), [said("Item with id 'rs_1' not found.", 404)]),
    ("openai-responses", sends('"strict": false'), [said("Unknown name: 'tools[0].strict'")]),
    ("deepseek", sends("reasoning_content"), [said("property 'messages.1.reasoning_content' is unsupported")]),
]
CASES = [(family, is_refused, words) for family, is_refused, all in REFUSED for words in all]


def conversation(family):
    """A request with all that is refused: a system prompt, thoughts, and a call without a text or an answer."""
    provider = endpoint(family).vendor.name
    thought = Thinking("Hm.", signature="abc", provider=provider, **OPAQUE.get(family, {}))
    reply = AssistantMessage((thought, ToolCall("call_1", "look", {"strict": "kept"})))
    result = ToolResult(call="call_1", content=(Text("a result"),))
    return request(HELLO, reply, result, HELLO, tools=(SPEC,), max_tokens=64_000)


async def ask(server, family, refused):
    place = "openai" if family == "deepseek" else family
    model = FAMILIES[family](endpoint(family, base_url=server.url(place)), MemoryBlobs())
    for text in ("One.", "Two."):
        assert message_of(await collected(model, conversation(family))).text == text
    await model.close()
    return [refused(asked.body) for asked in server.requests]


@for_each("family, is_refused, words", CASES)
async def test_after_a_refusal_of_one_part_every_later_request_works(family, is_refused, words):
    def refuse(asked):
        return Refusal(*words) if is_refused(asked.body) else None

    async with ModelServer([Turn(text="One."), Turn(text="Two.")], refuses=refuse) as server:
        refused = await ask(server, family, is_refused)
        assert refused[0]
        assert refused[-2:] == [False, False], "what helped is remembered"
        for asked in server.requests:
            body = json.dumps(asked.body)
            assert all(body.count(text) for text in ("Be brief.", "Hello", "a result", "look", "kept")), body


FILTERED = [said("The request could not be processed (code 1301)"), said("Content Exists Risk")]


@pytest.mark.parametrize("words", FILTERED)
@pytest.mark.parametrize("family", ["openai", "anthropic", "openai-responses"])
async def test_a_result_that_a_filter_refuses_is_left_out_and_a_line_says_so(family, words):
    def refuse(asked):
        return Refusal(*words) if "poison" in json.dumps(asked.body) else None

    poison = ToolResult(call="call_1", content=(Text("poison"),))
    reply = AssistantMessage((ToolCall("call_1", "look", {}), ToolCall("call_2", "look", {})))
    other = ToolResult(call="call_2", content=(Text("harmless"),))
    older = [AssistantMessage((ToolCall("call_0", "look", {}),)), ToolResult(call="call_0", content=(Text("older"),))]
    asked = request(HELLO, *older, reply, poison, other, HELLO, tools=(SPEC,))
    async with ModelServer([Turn(text="One."), Turn(text="Two.")], refuses=refuse) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        events = await collected(model, asked)
        assert "results of tools are left out" in only(StepRetried, events).cause
        assert not [event for event in await collected(model, asked) if isinstance(event, StepRetried)]
        await model.close()
        assert len(server.requests) == 4
        assert all("older" in json.dumps(sent.body) for sent in server.requests)


async def test_thoughts_that_came_after_refused_ones_are_sent_back():
    def refuse(asked):
        words = said("Invalid `signature` in `thinking` block")
        return Refusal(*words) if '"signature": "abc"' in json.dumps(asked.body) else None

    async with ModelServer([Turn(text="One."), Turn(text="Two.")], refuses=refuse) as server:
        model = Anthropic(endpoint("anthropic", base_url=server.url("anthropic")), MemoryBlobs())
        await collected(model, conversation("anthropic"))
        newer = AssistantMessage((Thinking("Ah.", signature="new", provider="anthropic"), Text("So.")))
        await collected(model, request(*conversation("anthropic").messages, newer, HELLO))
        await model.close()
        assert [sends('"signature": "new"')(asked.body) for asked in server.requests] == [False, False, True]


@for_each("family", ["openai", "anthropic", "openai-responses", "gemini"])
@for_each("words", ["bad request", "max_tokens: no", "messages.0: role is odd", "temperature too high"])
async def test_another_refusal_changes_no_part(family, words):
    refused = []
    async with ModelServer([], refuses=lambda asked: refused.append(asked.body) or Refusal(*said(words))) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        with pytest.raises(ModelError):
            await collected(model, conversation(family))
        await model.close()
    assert len(refused) == 1
