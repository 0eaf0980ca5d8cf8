"""Answers of status 200 that are no streams, over a real connection."""

import asyncio

import msgspec
import pytest
from msgspec.structs import replace
from tests.net.raw_server import read_request, serving
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, text_of, usage_of
from tests.tables import for_each

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import ThinkingDelta
from halocline.protocol.messages import StopReason, ToolCall, Usage
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.openai_chat.request import OpenAIChat, encode_messages, to_wire
from halocline.providers.wrappers.retry import Retrying

WHOLE = msgspec.json.encode({"id": "c1", "object": "status", "text": "Hello."})
PAGE = b"<!doctype html>\n\n<html><head><style>a { b }</style></head>\n\n<body><h1>Sign in</h1> to go on</body></html>"


class Server:
    """Answers every request with the same bytes, in the given writes."""

    def __init__(self, kind: str, *writes: bytes) -> None:
        self.requests = 0
        self._kind = kind
        self._writes = writes

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        self.requests += 1
        kind = f"Content-Type: {self._kind}\r\n".encode() if self._kind else b""
        writer.write(b"HTTP/1.1 200 OK\r\n" + kind + b"Connection: close\r\n\r\n")
        for data in self._writes:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0)


async def asked(server: Server, family: type = OpenAIChat, provider: str = "openai-compatible") -> list:
    async with serving(server.answer) as url:
        model = family(endpoint(provider, base_url=url), MemoryBlobs())
        try:
            return await collected(Retrying(model, waits=(0.0,) * 3), request())
        finally:
            await model.close()


@for_each("kind", ["application/json", "text/html", "text/event-stream", "text/plain", ""])
@for_each("family", [OpenAIChat, Anthropic])
@for_each("body, shown", [(WHOLE, '{"id":"c1"'), (PAGE, "Sign in to go on")])
async def test_a_document_in_place_of_a_stream_is_said_once_with_what_came(
    kind: str, family: type, body: bytes, shown: str
) -> None:
    server = Server(kind, body[:20], body[20:])
    with pytest.raises(ModelError) as caught:
        await asked(server, family)
    assert caught.value.kind is ModelErrorKind.NOT_A_STREAM
    assert shown in caught.value.text
    assert "base URL" in caught.value.hint
    assert server.requests == 1


def completion(finish: str = "tool_calls") -> dict:
    """A whole reply as OpenAI's API sends it without streaming."""
    calls = [
        {
            "id": f"c{at}",
            "type": "function",
            "function": {"name": "list_files", "arguments": msgspec.json.encode({"path": at}).decode()},
        }
        for at in ("a", "b")
    ]
    message = {"role": "assistant", "content": "I look.", "refusal": None, "tool_calls": calls}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


async def test_a_whole_reply_in_place_of_a_stream_is_the_reply() -> None:
    from openai.types.chat import ChatCompletion

    ChatCompletion.model_validate(completion())
    body = msgspec.json.encode(completion())
    events = await asked(Server("application/json; charset=utf-8", body[:30], body[30:]))
    message = message_of(events)
    assert message.text == "I look."
    assert [(call.id, call.arguments) for call in message.tool_calls] == [("ca", {"path": "a"}), ("cb", {"path": "b"})]
    assert usage_of(events).usage == Usage(input=7, output=3)


async def test_a_whole_reply_that_was_cut_off_says_so() -> None:
    events = await asked(Server("application/json", msgspec.json.encode(completion("length"))))
    assert message_of(events).stop_reason is StopReason.MAX_TOKENS


async def test_a_server_that_does_not_stream_is_not_asked_to() -> None:
    at = endpoint("openai-compatible")
    at = replace(at, vendor=replace(at.vendor, streams=False))
    body = msgspec.json.decode(b"".join(to_wire(request(), at, encode_messages(at, MemoryBlobs()))))
    assert body["stream"] is False
    assert "stream_options" not in body


async def test_an_error_in_place_of_a_stream_has_its_own_kind() -> None:
    server = Server("text/event-stream", b'{"error": {"message": "No more.", "code": "insufficient_quota"}}')
    with pytest.raises(ModelError, match="No more") as caught:
        await asked(server)
    assert caught.value.kind is ModelErrorKind.QUOTA


async def test_a_reply_used_up_by_thinking_is_said_once() -> None:
    thought = b'data: {"choices":[{"delta":{"reasoning_content":"Hm."},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n'
    server = Server("text/event-stream", thought)
    with pytest.raises(ModelError, match="token limit") as caught:
        await asked(server)
    assert (caught.value.kind, server.requests) == (ModelErrorKind.TOO_LONG, 1)


def chunk(delta: str) -> bytes:
    return b'data: {"choices":[{"delta":%s,"finish_reason":null}]}\n\n' % delta.encode()


END = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ([r"a\ud83d", r"\ude00b"], "a😀b"),
        ([r"\uD83D", r"\uDE00\ud83d", r"\ude01"], "😀😁"),
        ([r"\ud83d\ude00"], "😀"),
        ([r"\\ud83d", r"\\ude00"], r"\ud83d\ude00"),
        ([r"x\ude00y"], "x�y"),
        ([r"x\ud83d", "y"], "xy"),
    ],
    ids=["one", "two", "whole", "written out", "the second half alone", "the first half alone"],
)
async def test_a_character_that_was_cut_in_two_is_whole_again(pieces: list[str], whole: str) -> None:
    for field in ("content", "reasoning_content"):
        chunks = [chunk(f'{{"{field}":"{piece}"}}') for piece in pieces]
        events = await asked(Server("text/event-stream", *chunks, chunk('{"content":"."}'), END))
        thoughts = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
        assert thoughts + text_of(events) == whole + "."


async def test_a_character_that_was_cut_in_a_calls_arguments_is_whole_again() -> None:
    call = r'{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"%s"}}]}'
    chunks = [chunk(call % r"{\"a\":\"\ud83d"), chunk(call % r"\ude00\"}")]
    message = message_of(await asked(Server("text/event-stream", *chunks, END)))
    assert message.content == (ToolCall("c", "f", {"a": "😀"}),)


async def test_claudes_text_that_was_cut_in_a_character_is_whole_again() -> None:
    delta = r'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}'
    stop = 'data: {"type":"message_stop"}'
    chunks = [f"{each}\n\n".encode() for each in (delta % r"\ud83d", delta % r"\ude00", stop)]
    events = await asked(Server("text/event-stream", *chunks), Anthropic, "anthropic")
    assert text_of(events) == "😀"


BEGUN = b'data: {"choices":[{"delta":{"content":"half a "}}]}\n\n'
FOREIGN = {
    "words": b'event: error\ndata: "upstream exploded"\n\n',
    "no JSON": b"event: error\ndata: upstream exploded\n\n",
    "half a payload": b'data: {"choices": [{"upstream exploded\n\n',
    "a detail": b'data: {"detail": "upstream exploded"}\n\n',
    "a message": b'data: {"code": 500, "message": "upstream exploded"}\n\n',
    "a list": b'data: {"errors": [{"msg": "upstream exploded"}]}\n\n',
}


@pytest.mark.parametrize("begin", [b"", BEGUN], ids=["at once", "on the way"])
@pytest.mark.parametrize("shape", FOREIGN)
async def test_an_error_in_a_stream_keeps_the_servers_words_whatever_its_shape(begin: bytes, shape: str) -> None:
    with pytest.raises(ModelError, match="upstream exploded"):
        await asked(Server("text/event-stream", begin, FOREIGN[shape]))


async def test_what_looks_like_an_error_in_a_stream_that_goes_on_is_none() -> None:
    server = Server("text/event-stream", FOREIGN["a detail"], FOREIGN["a message"], BEGUN, b"data: [DONE]\n\n")
    assert text_of(await asked(server)) == "half a "
