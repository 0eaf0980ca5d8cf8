"""A stand-in for Amazon Bedrock: one answer to each request, in Amazon's own framing of events."""

import asyncio
import struct
from binascii import crc32
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from tests.net.raw_server import read_request, serving

STREAM = "application/vnd.amazon.eventstream"


def frame(name: str, payload: Any, kind: str = "event") -> bytes:
    """One event. An `exception` is an error in the middle of a stream."""
    headers = b"".join(
        _header(key, value)
        for key, value in ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind))
    )
    body = msgspec.json.encode(payload)
    prelude = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    head = prelude + struct.pack("!I", crc32(prelude)) + headers + body
    return head + struct.pack("!I", crc32(head))


def _header(key: str, value: str) -> bytes:
    return bytes([len(key)]) + key.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()


def reply(text: str = "I look.", stop: str = "tool_use", **usage: int) -> bytes:
    """Thinking with a signature, text, and one call whose arguments come in pieces."""

    def delta(index: int, **fields: Any) -> bytes:
        return frame("contentBlockDelta", {"contentBlockIndex": index, "delta": fields})

    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "read_file"}}
    return b"".join(
        (
            frame("messageStart", {"role": "assistant"}),
            delta(0, reasoningContent={"text": "Hm."}),
            delta(0, reasoningContent={"signature": "c2ln"}),
            frame("contentBlockStop", {"contentBlockIndex": 0}),
            delta(1, text=text),
            frame("contentBlockStop", {"contentBlockIndex": 1}),
            frame("contentBlockStart", {"contentBlockIndex": 2, "start": call}),
            delta(2, toolUse={"input": '{"pa'}),
            delta(2, toolUse={"input": 'th":"a"}'}),
            frame("contentBlockStop", {"contentBlockIndex": 2}),
            frame("messageStop", {"stopReason": stop}),
            frame("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
        )
    )


@dataclass
class Bedrock:
    """What came to the server."""

    url: str = ""
    heads: list[bytes] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)


@asynccontextmanager
async def bedrock_server(answers: Sequence[tuple[int, bytes] | None]) -> AsyncIterator[Bedrock]:
    """Gives each request a status and a body; an answer of None is never sent."""
    seen = Bedrock()
    rest = iter(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, asked = await read_request(reader)
        seen.heads.append(head)
        seen.bodies.append(msgspec.json.decode(asked))
        if (reply := next(rest)) is None:
            await reader.read(1)
            return
        status, body = reply
        kind = STREAM if status == 200 else "application/json"
        fields = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        writer.write(f"HTTP/1.1 {status} x\r\n{fields}\r\n".encode() + body)
        await writer.drain()

    async with serving(answer) as url:
        seen.url = url.removesuffix("/base")
        yield seen
