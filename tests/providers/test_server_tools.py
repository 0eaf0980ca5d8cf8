"""Tools that Anthropic's server runs: a gateway may add some although we ask for none."""

import asyncio
from typing import Any

import msgspec
import pytest
from tests.conformance.test_request_judges import anthropic as judge
from tests.net.raw_server import read_request, serving
from tests.providers.markup import TOOLS
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request, text_of, usage_of

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError
from halocline.protocol.events import UsageReported
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult, Usage, UserMessage
from halocline.providers.anthropic.request import Anthropic

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tides"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.example", "title": "Tides", "encrypted_content": "ZW5j"}
    ],
}
OTHER = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {"query": "moon"}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}


def said(text: str) -> dict:
    return {"type": "text", "text": text}


def reply(stop: str, *blocks: dict) -> bytes:
    """A stream of these blocks; inputs come in pieces, as the API sends them."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"usage": {"input_tokens": 10}}}]
    for index, block in enumerate(blocks):
        given = block.get("input")
        begun = block | {"input": {}} if given else block
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        if given:
            text = msgspec.json.encode(given).decode()
            for piece in (text[:5], text[5:]):
                delta = {"type": "input_json_delta", "partial_json": piece}
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return b"".join(b"data: %s\n\n" % msgspec.json.encode(event) for event in events)


class Server:
    """Answers one request after the other with these replies; the last one again and again."""

    def __init__(self, *replies: bytes) -> None:
        self.bodies: list[dict] = []
        self._replies = replies

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await read_request(reader)
        self.bodies.append(msgspec.json.decode(body))
        writer.write(HEAD + self._replies[min(len(self.bodies), len(self._replies)) - 1])
        await writer.drain()


async def asked(server: Server, *requests: Request) -> list:
    """All events of the replies to these requests."""
    async with serving(server.answer) as url:
        model = Anthropic(endpoint(base_url=url), MemoryBlobs())
        try:
            return [event for each in requests for event in await collected(model, each)]
        finally:
            await model.close()


async def test_a_call_of_the_server_is_not_ours_to_run() -> None:
    events = await asked(Server(reply("end_turn", SEARCH, FOUND, said("High at noon."))), request())
    message = message_of(events)
    assert (message.tool_calls, message.text, text_of(events)) == ((), "High at noon.", "High at noon.")


async def test_blocks_of_the_server_go_back_as_they_came_and_its_types_allow_them() -> None:
    server = Server(reply("tool_use", said("I search."), SEARCH, FOUND, CALL), reply("end_turn", said("Done.")))
    first = message_of(await asked(server, request(tools=TOOLS)))
    assert first.tool_calls == (ToolCall("toolu_1", "read_file", {"path": "a"}),)
    await asked(server, request(HELLO, first, ToolResult("toolu_1", (Text("ok"),)), tools=TOOLS, max_tokens=100))
    body = server.bodies[1]
    assert body["messages"][1]["content"] == [said("I search."), SEARCH, FOUND, CALL]
    assert judge(body) == body


async def test_a_paused_reply_is_continued_and_is_one_message() -> None:
    server = Server(reply("pause_turn", said("I search."), SEARCH), reply("end_turn", FOUND, said(" High at noon.")))
    events = await asked(server, request(max_tokens=100))
    message = message_of(events)
    assert (message.text, message.stop_reason) == ("I search. High at noon.", StopReason.END_TURN)
    assert usage_of(events).usage == Usage(input=20, output=10)
    assert server.bodies[1]["messages"][1:] == [{"role": "assistant", "content": [said("I search."), SEARCH]}]
    assert judge(server.bodies[1]) == server.bodies[1]


async def test_a_reply_may_be_paused_before_its_first_word() -> None:
    server = Server(reply("pause_turn", SEARCH), reply("pause_turn", FOUND, OTHER), reply("end_turn", said("Noon.")))
    assert message_of(await asked(server, request())).text == "Noon."
    assert [len(body["messages"]) for body in server.bodies] == [1, 2, 2]


async def test_a_paused_reply_with_a_call_of_ours_waits_for_its_result() -> None:
    server = Server(reply("pause_turn", CALL))
    assert [call.name for call in message_of(await asked(server, request())).tool_calls] == ["read_file"]
    assert len(server.bodies) == 1


async def test_a_call_of_the_server_without_its_result_does_not_go_back() -> None:
    server = Server(reply("end_turn", said("I search."), OTHER), reply("end_turn", said("Done.")))
    message = message_of(await asked(server, request()))
    await asked(server, request(HELLO, message, UserMessage((Text("Go on."),))))
    assert server.bodies[1]["messages"][1]["content"] == [said("I search.")]


async def test_a_reply_that_is_paused_without_end_counts_as_cut_off() -> None:
    server = Server(reply("pause_turn", said("Still.")))
    assert message_of(await asked(server, request())).stop_reason is StopReason.MAX_TOKENS
    assert len(server.bodies) == 21


async def test_a_failure_after_a_pause_reports_what_was_spent() -> None:
    server = Server(
        reply("pause_turn", SEARCH), b'data: {"type":"error","error":{"type":"api_error","message":"No."}}\n\n'
    )
    async with serving(server.answer) as url:
        model = Anthropic(endpoint(base_url=url), MemoryBlobs())
        events = model.stream(request())
        spent = await anext(events)
        with pytest.raises(ModelError, match="No"):
            await anext(events)
        await model.close()
    assert isinstance(spent, UsageReported)
    assert spent.usage.total == 15


async def test_another_model_does_not_get_the_blocks() -> None:
    server = Server(reply("end_turn", SEARCH, FOUND, said("Noon.")), reply("end_turn", said("Done.")))
    message = message_of(await asked(server, request()))
    foreign = AssistantMessage(message.content, model="anthropic/another")
    await asked(server, request(HELLO, foreign, UserMessage((Text("Go on."),))))
    assert server.bodies[1]["messages"][1]["content"] == [said("Noon.")]
