"""Servers that keep a connection busy and say nothing, and some that say too much: every wait has an end."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from tests.net.raw_server import read_request, serving
from tests.providers.streams import MemoryBlobs, usage_of
from tests.servers.model_server import Call, ModelServer, Turn

from halocline.net.http import HttpClient
from halocline.net.network import Network
from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta
from halocline.protocol.messages import Text, UserMessage
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.endpoint import Endpoint
from halocline.providers.wrappers.bounded import Bounded
from halocline.runtime.models.resolve import build_client, with_bounds
from halocline.store.settings.settings import Settings

PATIENT = Network(first_byte_timeout=600.0, stall_timeout=600.0)
ASKED = Request(model="near/m", system="", messages=(UserMessage((Text("go"),)),), tools=())
FAMILIES = ["anthropic", "openai_chat", "openai_responses", "gemini"]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
NOTHING = {
    "comments": b": OPENROUTER PROCESSING\n\n",
    "blank lines": b"\n",
    "pings": b'event: ping\ndata: {"type": "ping"}\n\n',
}


def text_of(family: str, text: str) -> bytes:
    """One more piece of a reply."""
    payload: object = {
        "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        "openai_chat": {"choices": [{"index": 0, "delta": {"content": text}}]},
        "openai_responses": {"type": "response.output_text.delta", "output_index": 0, "delta": text},
        "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]},
    }[family]
    return f"data: {json.dumps(payload)}\n\n".encode()


BEGUN = {
    "anthropic": b'data: {"type": "message_start", "message": {"usage": {"input_tokens": 1}}}\n\n'
    b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}\n\n',
    "openai_responses": b'data: {"type": "response.created", "response": {"id": "r"}}\n\n'
    b'data: {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}\n\n',
}


def forever(head: bytes, first: bytes, again: bytes, pause: float):
    """A server that goes on with the same bytes until the client leaves."""

    async def handle(reader, writer) -> None:
        await read_request(reader)
        writer.write(head)
        piece = first
        while not writer.is_closing():
            if piece:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            piece = again
            await asyncio.sleep(pause)

    return handle


async def failure(url: str, family: str, **settings: float) -> ModelError:
    """How a request fails."""
    vendor = Vendor("near", "Near", family, base_url=url)
    at = Endpoint(vendor, "m", key="k", network=PATIENT)
    model = with_bounds(build_client(at, MemoryBlobs()), at, Settings(**settings))
    try:
        with pytest.raises(ModelError) as failed:
            async for _ in model.stream(ASKED):
                pass
        return failed.value
    finally:
        await model.close()


@pytest.mark.parametrize("what", NOTHING)
@pytest.mark.parametrize("family", FAMILIES)
async def test_a_server_that_says_nothing_new_is_left_however_busy_the_line_is(family: str, what: str) -> None:
    if what == "pings" and family != "anthropic":
        pytest.skip("only Anthropic's format has them")
    for first in (b"", BEGUN.get(family, b"") + text_of(family, "Let me")):
        async with serving(forever(HEAD, first, NOTHING[what], 0.02)) as url:
            failed = await failure(url, family, quiet_timeout=0.3)
        assert failed.kind is ModelErrorKind.STALLED
        assert "quiet_timeout" in failed.hint


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_reply_without_an_end_is_broken_off_and_not_asked_for_again(family: str) -> None:
    words = text_of(family, "again and " * 100)
    async with serving(forever(HEAD, BEGUN.get(family, b""), words, 0)) as url:
        failed = await failure(url, family, max_reply=0.1)
    assert failed.kind is ModelErrorKind.TOO_LONG
    assert not failed.retryable
    assert "max_reply" in failed.hint


async def test_an_event_without_an_end_is_no_event() -> None:
    async with serving(forever(HEAD, b"data: ", b"x" * 4_000_000, 0)) as url:
        failed = await failure(url, "openai_chat", quiet_timeout=60.0)
    assert failed.kind is ModelErrorKind.MALFORMED


async def test_what_a_server_says_of_a_refusal_is_not_waited_for_without_end() -> None:
    async with serving(forever(REFUSED, b'{"error": "busy', b" ", 0.02)) as url:
        plain = HttpClient(url, PATIENT)
        response = await plain.post("/x", {}, [b"{}"])
        said = await response.read(65_536, within=0.2)
        await plain.close()
    assert (response.status, said.rstrip()) == (503, b'{"error": "busy')


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_usage_of_a_reply_has_the_time_to_its_first_output(family: str) -> None:
    turns = [Turn(text="Hello.", delay=0.05), Turn(calls=(Call("read_file", {"path": "a"}),), delay=0.05)]
    async with ModelServer(turns) as server:
        url = server.url({"anthropic": "anthropic", "gemini": "gemini"}.get(family, "openai"))
        at = Endpoint(Vendor("near", "Near", family, base_url=url), "m", key="k", network=PATIENT)
        model = with_bounds(build_client(at, MemoryBlobs()), at, Settings())
        reports = [usage_of([event async for event in model.stream(ASKED)]) for _ in turns]
        await model.close()
    assert all(report.first_token is not None and report.first_token >= 0.05 for report in reports)


class Ticking:
    """A model that says a word, and then again and again after so many seconds."""

    name = "near/ticking"

    def __init__(self, pause: float) -> None:
        self._pause = pause

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta, None]:
        for _ in range(3):
            yield TextDelta("tick ")
            await asyncio.sleep(self._pause)

    async def close(self) -> None:
        """Nothing is open."""


async def test_time_that_the_reader_takes_does_not_count() -> None:
    heard = 0
    async with aclosing(Bounded(Ticking(0.0), first=60.0, quiet=0.05, largest=100).stream(ASKED)) as events:
        async for _ in events:
            heard += 1
            await asyncio.sleep(0.06)
    assert heard == 3


async def test_a_wait_that_was_too_long_leaves_no_cancellation_behind() -> None:
    with pytest.raises(ModelError) as failed:
        async for _ in Bounded(Ticking(60.0), first=60.0, quiet=0.01, largest=100).stream(ASKED):
            pass
    assert failed.value.kind is ModelErrorKind.STALLED
    assert asyncio.current_task().cancelling() == 0


async def test_a_cancellation_from_outside_stays_one() -> None:
    events = Bounded(Ticking(60.0), first=60.0, quiet=60.0, largest=100).stream(ASKED)
    await anext(events)
    waiting = asyncio.create_task(anext(events))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
