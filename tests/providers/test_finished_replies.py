"""What comes behind the end of a reply changes nothing, and what only counts or names never fails one."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.net.raw_server import STREAM_HEAD, read_request, serving
from tests.providers.streams import (
    MemoryBlobs,
    collected,
    endpoint,
    message_of,
    other_forms,
    request,
    translated,
    usage_of,
)
from tests.servers.gemini_format import GeminiFormat
from tests.servers.ollama_format import OllamaFormat
from tests.servers.responses_format import ResponsesFormat
from tests.servers.wire_formats import AnthropicFormat, OpenAIFormat
from tests.tables import for_each

from halocline.net.network import Network
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import AssistantMessage, Thinking, Usage
from halocline.providers.anthropic import request as anthropic, stream as anthropic_stream
from halocline.providers.gemini import request as gemini, stream as gemini_stream
from halocline.providers.ollama import request as ollama, stream as ollama_stream
from halocline.providers.openai_chat import request as chat, stream as chat_stream
from halocline.providers.openai_responses import request as responses, stream as responses_stream
from halocline.providers.scripted.script import Call, Turn

TURN = Turn(
    thinking="I look.",
    text="Hi there",
    calls=(Call("read_file", {"path": "a.txt"}), Call("list_files", {"path": "."})),
    usage=Usage(input=10, output=40),
)
FAMILIES = {
    "anthropic": (anthropic.Anthropic, anthropic_stream.FromWire, AnthropicFormat()),
    "openai": (chat.OpenAIChat, chat_stream.FromWire, OpenAIFormat()),
    "openai-responses": (responses.OpenAIResponses, responses_stream.FromWire, ResponsesFormat()),
    "gemini": (gemini.Gemini, gemini_stream.FromWire, GeminiFormat()),
    "ollama": (ollama.Ollama, ollama_stream.FromWire, OllamaFormat()),
}
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)


def bytes_of(family: str, turn: Turn = TURN) -> bytes:
    return b"".join(piece.data for piece in FAMILIES[family][2].stream(turn, "m", 1))


def payloads_of(family: str) -> list[bytes]:
    lines = bytes_of(family).splitlines()
    return lines if family == "ollama" else [line[6:] for line in lines if line.startswith(b"data: ")]


def said(message: AssistantMessage) -> tuple[str, str, list[tuple[str, Any]]]:
    thoughts = "".join(part.text for part in message.content if isinstance(part, Thinking))
    return thoughts, message.text, [(call.name, call.malformed or call.arguments) for call in message.tool_calls]


def read(family: str, payloads: list[bytes]) -> list[Any]:
    """The events of these payloads, as one reader gives them."""
    reader = FAMILIES[family][1](request(), endpoint(family))
    return [*(event for payload in payloads for event in reader.feed(payload)), *reader.finish()]


ODD_ENDS = {
    "the mark of another family": b"data: [DONE]\n\n",
    "garbage": b"data: garbage\n\n",
    "half a document": b'data: {"choices": [{\n\n',
    "an error": b'data: {"type": "error", "error": {"message": "late"}}\n\n',
    "a page": b"<html>504</html>\n\n",
    "bytes": b"\xff\xfe\x00\n\n",
    "a line of JSON": b'{"error": "late"}\n',
    "null": b"data: null\n\n",
    "a list": b"data: []\n\n",
    "more text": (
        b'data: {"choices": [{"delta": {}}], "type": "content_block_delta", "index": 9, "candidates": [],'
        b' "delta": {"type": "text_delta", "text": ""}}\n\n'
    ),
}


async def answered(family: str, data: bytes, chunked_end: bool) -> list[Any]:
    """The events of a server that sends these bytes, once; then it ends the body, or the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        kind = b"application/x-ndjson" if family == "ollama" else b"text/event-stream"
        writer.write(STREAM_HEAD.replace(b"text/event-stream", kind))
        writer.write(b"%x\r\n%s\r\n" % (len(data), data) + (b"0\r\n\r\n" if chunked_end else b""))
        await writer.drain()

    async with serving(answer) as url:
        at = replace(endpoint(family, base_url=url), known=replace(endpoint(family).info, window=4096))
        model = FAMILIES[family][0](at, MemoryBlobs())
        try:
            return await collected(model)
        finally:
            await model.close()


@EVERY_FAMILY
@pytest.mark.parametrize("chunked_end", [True, False], ids=["ended", "cut"])
@pytest.mark.parametrize("odd", ODD_ENDS.values(), ids=ODD_ENDS)
async def test_nothing_behind_the_end_undoes_a_reply(family: str, odd: bytes, chunked_end: bool) -> None:
    events = await answered(family, bytes_of(family) + odd, chunked_end)
    assert said(message_of(events)) == said(message_of(read(family, payloads_of(family))))
    assert usage_of(events).usage == TURN.usage


@EVERY_FAMILY
async def test_the_last_event_needs_no_blank_line_and_no_end_mark(family: str) -> None:
    data = bytes_of(family).removesuffix(b"data: [DONE]\n\n").rstrip(b"\n")
    assert said(message_of(await answered(family, data, True))) == said(message_of(read(family, payloads_of(family))))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "ollama"])
async def test_events_may_end_with_their_lines(family: str) -> None:
    data = bytes_of(family).replace(b"\n\n", b"\n")
    assert said(message_of(await answered(family, data, True))) == said(message_of(read(family, payloads_of(family))))


async def test_a_finished_reply_does_not_wait_for_a_server_that_falls_silent() -> None:
    silent = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        data = bytes_of("openai").removesuffix(b"data: [DONE]\n\n")
        writer.write(STREAM_HEAD + b"%x\r\n%s\r\n" % (len(data), data))
        await silent.wait()

    async with serving(answer) as url:
        at = replace(endpoint("openai", base_url=url), network=Network(stall_timeout=0.2))
        model = chat.OpenAIChat(at, MemoryBlobs())
        assert message_of(await collected(model)).text == TURN.text
        silent.set()
        await model.close()


def test_an_error_is_one_where_the_server_stops_after_each_piece() -> None:
    pieces = [{"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]} for text in ("One", "Two")]
    with pytest.raises(ModelError) as caught:
        read("openai", [*map(msgspec.json.encode, pieces), b'{"error": {"message": "overloaded", "code": 503}}'])
    assert caught.value.kind is ModelErrorKind.OVERLOADED


CARRYING = {
    "anthropic": [
        "type",
        "delta",
        "text",
        "thinking",
        "partial_json",
        "content_block",
        "name",
        "input",
        "signature",
        "error",
        "stop_reason",
    ],
    "openai": [
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "error",
        "finish_reason",
        "reasoning_content",
    ],
    "openai-responses": [
        "type",
        "delta",
        "text",
        "arguments",
        "item",
        "response",
        "output",
        "name",
        "content",
        "summary",
        "error",
        "status",
        "encrypted_content",
        "incomplete_details",
    ],
    "gemini": [
        "candidates",
        "content",
        "parts",
        "text",
        "thought",
        "functionCall",
        "name",
        "args",
        "error",
        "finishReason",
        "thoughtSignature",
        "promptFeedback",
    ],
    "ollama": ["message", "content", "thinking", "tool_calls", "function", "name", "arguments", "done", "error"],
}
"""Fields that carry the reply or say how it ends: without one of them the reply may be another, or a failure."""
PLACES = {"index", "output_index", "content_index", "summary_index"}
"""Fields that say where a piece belongs: pieces of several calls may be joined otherwise, and no more."""


@EVERY_FAMILY
def test_a_field_of_another_type_fails_nothing_that_it_does_not_carry(family: str) -> None:
    payloads, whole = payloads_of(family), read(family, payloads_of(family))
    for at, payload in enumerate(payloads):
        if payload == b"[DONE]":
            continue
        for place, changed in other_forms(msgspec.json.decode(payload)):
            names = [step for step in place if isinstance(step, str)]
            inside = {"arguments", "args"} & {*names}
            carries = inside or names[-1] in CARRYING[family] or isinstance(place[-1], int)
            try:
                events = read(family, [*payloads[:at], msgspec.json.encode(changed), *payloads[at + 1 :]])
            except ModelError:
                events = []
            if not events:
                assert carries, (place, changed)
                continue
            message = message_of(events)
            assert all(call.id and call.name for call in message.tool_calls)
            if not carries and not PLACES & {*names}:
                assert said(message) == said(message_of(whole)), (place, changed)


@EVERY_FAMILY
@pytest.mark.parametrize("form", [float, str, lambda count: f"{count}.0"], ids=["10.0", '"10"', '"10.0"'])
def test_counts_of_another_type_count(family: str, form: Any) -> None:
    def changed(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: changed(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [changed(inner) for inner in value]
        return form(value) if isinstance(value, int) and not isinstance(value, bool) else value

    payloads = [
        payload if payload == b"[DONE]" else msgspec.json.encode(changed(msgspec.json.decode(payload)))
        for payload in payloads_of(family)
    ]
    events = read(family, payloads)
    assert usage_of(events).usage == TURN.usage
    assert said(message_of(events)) == said(message_of(read(family, payloads_of(family))))


def claude(*usages: dict[str, Any]) -> list[dict[str, Any]]:
    first, *rest = usages
    text = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    deltas = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage} for usage in rest]
    return [{"type": "message_start", "message": {"usage": first}}, text, *deltas, {"type": "message_stop"}]


def chunks(*usages: Any, where: str = "top") -> list[dict[str, Any]]:
    said = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    if where == "choice":
        return [said, *({"choices": [{"delta": {}, "usage": usage}]} for usage in usages)]
    return [said, *({"choices": [], "usage": usage} for usage in usages)]


USED = {"prompt_tokens": 100, "completion_tokens": 40}
COUNTED = {
    "zeros at the end": ("openai", chunks(USED, dict.fromkeys(USED, 0)), Usage(100, 40)),
    "smaller ones at the end": (
        "openai",
        chunks(USED, {"prompt_tokens": 100, "completion_tokens": 1}),
        Usage(100, 40),
    ),
    "nothing at the end": ("openai", chunks(USED, {}), Usage(100, 40)),
    "Moonshot's, in the choice": (
        "openai",
        chunks({"prompt_tokens": 1336, "completion_tokens": 31, "cached_tokens": 1280}, where="choice"),
        Usage(56, 31, cache_read=1280),
    ),
    "the cache of a later chunk": ("openai", chunks(USED, USED | {"cached_tokens": 90}), Usage(10, 40, 90)),
    "LiteLLM's cache, written": (
        "openai",
        chunks(USED | {"cache_creation_input_tokens": 30, "cache_read_input_tokens": 60}),
        Usage(10, 40, 60, 30),
    ),
    "LiteLLM's cache, in the details": (
        "openai",
        chunks(USED | {"prompt_tokens_details": {"cached_tokens": 60, "cache_creation_tokens": 30}}),
        Usage(10, 40, 60, 30),
    ),
    "one cache in two places": (
        "openai",
        chunks(USED | {"cached_tokens": 60, "prompt_tokens_details": {"cached_tokens": 60}}),
        Usage(40, 40, 60),
    ),
    "details that are a list": ("openai", chunks(USED | {"prompt_tokens_details": []}), Usage(100, 40)),
    "a text": ("openai", chunks("none"), Usage()),
    "no number": ("openai", chunks({"prompt_tokens": "many", "completion_tokens": 1e400}), Usage()),
    "less than nothing": ("openai", chunks({"prompt_tokens": -5, "completion_tokens": 40}), Usage(0, 40)),
    "Claude's input as zero at the end": (
        "anthropic",
        claude({"input_tokens": 9, "cache_read_input_tokens": 90}, {"input_tokens": 0, "output_tokens": 40}),
        Usage(9, 40, 90),
    ),
    "Claude's prompt, divided at the end": (
        "anthropic",
        claude({"input_tokens": 99}, {"input_tokens": 9, "cache_read_input_tokens": 90, "output_tokens": 40}),
        Usage(9, 40, 90),
    ),
    "Claude's output, smaller at the end": (
        "anthropic",
        claude({"input_tokens": 9, "output_tokens": 40}, {"output_tokens": 0}),
        Usage(9, 40),
    ),
}


@for_each("family, payloads, counted", COUNTED.values())
def test_counts_are_read_where_they_stand_and_only_grow(family: str, payloads: Any, counted: Usage) -> None:
    events = read(family, [msgspec.json.encode(payload) for payload in payloads])
    assert usage_of(events).usage == counted


def test_a_stream_of_claude_may_end_like_one_of_openai() -> None:
    reader = anthropic_stream.FromWire(request(), endpoint("anthropic"))
    stream = bytes_of("anthropic") + b"data: [DONE]\n\n"
    assert message_of(translated(reader, [stream])).text == TURN.text
