"""Whole tasks behind gateways that add fields of their own to the wire format."""

import asyncio

import msgspec
import pytest
from tests.net.raw_server import read_request, serving

from halocline.client.tasks import Client
from halocline.protocol.kinds import ApprovalMode
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

KEYS = {"OPENROUTER_API_KEY": "key", "LITELLM_API_KEY": "key"}
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "list_files", "arguments": '{"path":"."}'}}
DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0},
    {"type": "reasoning.encrypted", "data": "ZW5j", "id": "c1", "index": 1},
]
BLOCKS = [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]


class Gateway:
    """Answers each request with the next deltas."""

    def __init__(self, *replies: list[dict]) -> None:
        self.bodies: list[dict] = []
        self._replies = replies

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await read_request(reader)
        self.bodies.append(msgspec.json.decode(body))
        chunks = [{"choices": [{"delta": delta}]} for delta in self._replies[len(self.bodies) - 1]]
        chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(b"".join(b"data: %s\n\n" % msgspec.json.encode(each) for each in chunks) + b"data: [DONE]\n\n")
        await writer.drain()


async def play(journey, url: str, model: str, resume: str = "") -> None:
    client = Client(Controller(Assembly(journey.home, Settings(base_url=url, sandbox="off"), KEYS)), "test")
    options = TaskOptions(model=model, approval_mode=ApprovalMode.YOLO)
    await journey.run(client=client, options=options, resume=resume)


@pytest.mark.parametrize(
    ("model", "field", "entries"),
    [
        ("openrouter/google/gemini-3-pro", "reasoning_details", DETAILS),
        ("litellm/claude-sonnet", "thinking_blocks", BLOCKS),
    ],
)
async def test_what_a_gateway_signed_goes_back_within_the_turn_and_after_a_resume(journey, model, field, entries):
    signed = CALL | {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    first = [{"reasoning": "Hm.", field: [entry]} for entry in entries]
    gateway = Gateway([*first, {"tool_calls": [signed]}], [{"content": "Done."}], [{"content": "Again."}])
    async with serving(gateway.answer) as url:
        await play(journey, url, model)
        await play(journey, url, model, resume=journey.task)
    for body in gateway.bodies[1:]:
        reply = next(message for message in body["messages"] if message["role"] == "assistant")
        assert reply[field] == entries
        assert reply["tool_calls"][0]["extra_content"] == signed["extra_content"]


async def test_thinking_in_tags_is_no_part_of_the_answer(journey):
    gateway = Gateway([{"content": "<think>Hm."}, {"content": "</think>\n\nDone."}])
    async with serving(gateway.answer) as url:
        await play(journey, url, "openrouter/qwen/qwen3")
    assert journey.state.last_message.text == "Done."
