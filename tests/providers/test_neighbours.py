"""Forms of foreign replies that no one reported yet, over the wire: the rows stand in `neighbours.toml`."""

import asyncio
import json
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.net.raw_server import STREAM_HEAD, read_request, serving
from tests.providers.markup import TOOLS
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, usage_of
from tests.providers.test_finished_replies import FAMILIES
from tests.tables import Failures

from halocline.protocol.errors import ModelError
from halocline.protocol.messages import Usage
from halocline.providers.text_tools.correction import Correcting

ROWS = tomllib.loads(Path(__file__).with_name("neighbours.toml").read_text(encoding="utf-8"))

FAMILY_OF = {"openai_chat": "openai", "openai_responses": "openai-responses"}
REPLIES = {
    "openai-compatible": b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
    "openai-responses": b'data: {"type":"response.output_text.delta","delta":"Hi"}\n\n'
    b'data: {"type":"response.completed","response":{}}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n',
}


def classes_of(kind: str) -> dict[str, list[Any]]:
    return {name: [*rows] for name, rows in groupby(ROWS[kind], lambda row: row["of"].partition(":")[0])}


STREAMS, REFUSALS = classes_of("stream"), classes_of("refusal")


def bytes_of(row: dict[str, Any]) -> bytes:
    if "raw" in row:
        return str(row["raw"]).encode()
    form = "{}\n" if row["family"] == "ollama" else "data: {}\n\n"
    return "".join(form.format(payload) for payload in row["payloads"]).encode()


async def events_of(row: dict[str, Any]) -> list[Any]:
    """The events of a server that streams a row, once."""
    data = bytes_of(row)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        kind = b"application/x-ndjson" if row["family"] == "ollama" else b"text/event-stream"
        writer.write(STREAM_HEAD.replace(b"text/event-stream", kind) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
        await writer.drain()

    async with serving(answer) as url:
        at = endpoint(row["family"], base_url=url)
        model = FAMILIES[row["family"]][0](replace(at, known=replace(at.info, window=4096)), MemoryBlobs())
        try:
            return await collected(Correcting(model), request(tools=TOOLS))
        finally:
            await model.close()


async def judge_stream(row: dict[str, Any]) -> None:
    if "fails" in row:
        with pytest.raises(ModelError) as caught:
            await events_of(row)
        assert caught.value.kind == row["fails"]
        return
    events = await events_of(row)
    message = message_of(events)
    made = [(call.name, call.malformed or call.arguments) for call in message.tool_calls]
    assert message.text == row.get("text", message.text)
    if "calls" in row:
        assert made == [(name, json.loads(arguments)) for name, arguments in row["calls"]]
    if not row.get("blind", True):
        assert made
        assert not any(call.name == "list_files" and not call.malformed for call in message.tool_calls), made
        assert any(call.malformed or call.name == "unnamed" for call in message.tool_calls), made
    if "usage" in row:
        assert usage_of(events).usage == Usage(*row["usage"])


async def asked_of(row: dict[str, Any], bodies: list[Any], reply: bytes = b"") -> list[Any]:
    """The events of a server that gives the row's refusal, of its field if it names one."""
    head = f"HTTP/1.1 {row.get('status', 400)} X\r\ncontent-type: application/json\r\nconnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in row.get("headers", {}).items())

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await read_request(reader)
        bodies.append(json.loads(body))
        if row.get("field", "model") in bodies[-1] or not reply:
            data = row["body"].encode()
            writer.write(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)
        else:
            writer.write(STREAM_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(reply), reply))
        await writer.drain()

    async with serving(answer) as url:
        at = endpoint(row.get("provider", "openai"), base_url=url)
        model = FAMILIES[FAMILY_OF.get(at.family, at.family)][0](at, MemoryBlobs())
        try:
            return await collected(model, request(tools=TOOLS, effort=row.get("effort")))
        finally:
            await model.close()


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_neighbour_of_a_refusal_that_once_was_unknown_is_understood(name: str) -> None:
    failures = Failures(len(REFUSALS[name]))
    for row in REFUSALS[name]:
        with failures.collect(row["of"]):
            with pytest.raises(ModelError) as caught:
                await asked_of(row, [])
            assert caught.value.kind == row.get("kind", caught.value.kind), caught.value
            assert row.get("shows", "") in caught.value.text
            assert name != "tools" or "--text-tools" in caught.value.hint
    failures.show()


async def test_a_neighbour_of_a_field_that_once_was_refused_is_left_out() -> None:
    failures = Failures(len(ROWS["field"]))
    for row in ROWS["field"]:
        bodies: list[Any] = []
        stream = REPLIES[row["provider"]]
        with failures.collect(row["of"]):
            assert message_of(await asked_of(row, bodies, stream)).text == "Hi"
            assert row["field"] in bodies[0]
            assert row["field"] not in bodies[-1]
    failures.show()


@pytest.mark.parametrize("name", STREAMS)
async def test_a_neighbour_of_a_stream_that_once_failed_is_read(name: str) -> None:
    failures = Failures(len(STREAMS[name]))
    for row in STREAMS[name]:
        with failures.collect(row["of"]):
            await judge_stream(row)
    failures.show()
