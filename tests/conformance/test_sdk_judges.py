"""The vendors' own clients judge the model server: what they parse is what the script says."""

from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, get_args

import pytest
from tests.conformance.sdks import SDKS, Heard, Refused
from tests.servers.model_server import Call, Fault, ModelServer, Turn
from tests.servers.test_model_server import PATHS

from halocline.net.http import HttpClient
from halocline.protocol.messages import StopReason, Usage
from halocline.providers.sse import EventParser, LineParser

every_sdk = pytest.mark.parametrize("family", SDKS)

FULL = Turn(
    thinking="Let me think about this.",
    text="Grüße! I read two files, and then I say more than one delta holds.",
    calls=(Call("read_file", {"path": "ä.py", "lines": [1, 2]}), Call("list_files", {})),
    usage=Usage(input=100, output=20, cache_read=50, cache_write=10, reasoning=5),
    chunk=5,
)
# Anthropic counts no thinking apart, Gemini nothing that is written to a cache, and Ollama only what goes in and out.
USAGES = {
    "anthropic": (100, 20, 50, 10),
    "openai": (100, 20, 50, 10, 5),
    "openai-responses": (100, 20, 50, 10, 5),
    "gemini": (110, 20, 50, 0, 5),
    "ollama": (160, 20),
}
STOPS = {
    "anthropic": ("tool_use", "end_turn", "max_tokens", "refusal"),
    "openai": ("tool_calls", "stop", "length", "content_filter"),
    "openai-responses": ("completed", "completed", "max_output_tokens", "content_filter"),
    "gemini": ("STOP", "STOP", "MAX_TOKENS", "SAFETY"),
    "ollama": ("stop", "stop", "length", "stop"),
}


@asynccontextmanager
async def sdk(family: str, turns: Sequence[Turn], write_size: int = 0):
    async with ModelServer(turns, write_size=write_size) as server:
        client = SDKS[family](server.url(family))
        try:
            yield client, server
        finally:
            await client.close()


async def heard(family: str, *turns: Turn, write_size: int = 0) -> Heard:
    async with sdk(family, turns, write_size) as (client, _):
        return await client.ask()


@every_sdk
@pytest.mark.parametrize("write_size", [0, 7])
async def test_a_reply_is_heard_as_the_script_says_it(family: str, write_size: int) -> None:
    reply = await heard(family, FULL, write_size=write_size)
    assert (reply.text, reply.thinking) == (FULL.text, FULL.thinking)
    assert reply.calls == [(call.tool, call.arguments) for call in FULL.calls]
    assert (reply.usage, reply.stop, reply.model) == (USAGES[family], STOPS[family][0], "m")
    assert bool(reply.signature) == (family not in ("openai", "ollama"))


@every_sdk
@pytest.mark.parametrize("place", [1, 2, 3])
async def test_a_reply_ends_for_the_reason_that_the_script_gives(family: str, place: int) -> None:
    stop = (StopReason.END_TURN, StopReason.MAX_TOKENS, StopReason.REFUSAL)[place - 1]
    assert (await heard(family, Turn(text="So", stop=stop))).stop == STOPS[family][place]


@every_sdk
async def test_pictures_and_results_are_understood_as_the_sdk_sends_them(family: str) -> None:
    async with sdk(family, [Turn(text="It says 42.", expect="forty-two", unexpected="And this?")]) as (client, server):
        assert (await client.go_on()).text == "It says 42."
    assert b"iVBORw0KGgo" in server.requests[0].raw


FAULTS = [Fault.RATE_LIMIT, Fault.OVERLOADED, Fault.SERVER, Fault.AUTH, Fault.CONTEXT_EXCEEDED]
ERRORS = {
    "anthropic": (
        ("RateLimitError", 429),
        ("OverloadedError", 529),
        ("InternalServerError", 500),
        ("AuthenticationError", 401),
        ("BadRequestError", 400),
    ),
    "openai": (
        ("RateLimitError", 429),
        ("InternalServerError", 503),
        ("InternalServerError", 500),
        ("AuthenticationError", 401),
        ("BadRequestError", 400),
    ),
    "gemini": (
        ("ClientError", 429),
        ("ServerError", 503),
        ("ServerError", 500),
        ("ClientError", 400),
        ("ClientError", 400),
    ),
    "ollama": tuple(("ResponseError", status) for status in (429, 503, 500, 401, 400)),
}


@every_sdk
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_the_error_that_the_sdk_has_for_it(family: str, fault: Fault) -> None:
    with pytest.raises(Refused) as caught:
        await heard(family, Turn(fault=fault, retry_after=7))
    errors = ERRORS.get(family) or ERRORS["openai"]
    assert (caught.value.name, caught.value.status) == errors[FAULTS.index(fault)]
    assert caught.value.retry_after == (None if family == "ollama" else "7")  # its SDK hides the headers
    if fault is Fault.CONTEXT_EXCEEDED:
        assert "too long" in caught.value.message


@every_sdk
async def test_an_error_within_the_stream_is_an_error_of_the_sdk(family: str) -> None:
    with pytest.raises(Refused) as caught:
        await heard(family, Turn(text="Hello you.", fault=Fault.STREAM_ERROR))
    said = ("overloaded", "had an error", "an error was encountered")
    assert any(words in caught.value.message.lower() for words in said)


@every_sdk
async def test_a_script_that_is_over_is_a_request_that_is_wrong(family: str) -> None:
    with pytest.raises(Refused, match="The script has no more turns") as caught:
        await heard(family)
    assert caught.value.status == 400


def kind_of_event(family: str) -> Any:
    """What an SDK declares each payload of a stream to be. Its client is lenient; the declaration is not."""
    match family:
        case "anthropic":
            from anthropic.types import RawMessageStreamEvent as Event
        case "openai":
            from openai.types.chat import ChatCompletionChunk as Event
        case "openai-responses":
            from openai.types.responses import ResponseStreamEvent as Event
        case "ollama":
            from ollama import ChatResponse as Event
        case _:
            from google.genai.types import GenerateContentResponse as Event
    return Event


async def payloads(family: str, turn: Turn) -> list[bytes]:
    async with ModelServer([turn]) as server:
        client = HttpClient(server.url(family))
        response = await client.post(PATHS[family], {}, (b'{"model":"m","messages":[]}',))
        found = (LineParser() if family == "ollama" else EventParser()).feed(await response.read(1_000_000))
        await client.close()
    return [payload for payload in found if payload not in (b"[DONE]", b'{"type":"ping"}')]


@every_sdk
@pytest.mark.parametrize("turn", [FULL, Turn(text="So", stop=StopReason.MAX_TOKENS)], ids=["full", "cut"])
async def test_every_payload_is_what_the_sdk_declares(family: str, turn: Turn) -> None:
    from pydantic import Field, TypeAdapter

    kind = kind_of_event(family)
    adapter = TypeAdapter(Annotated[kind, Field(discriminator="type")] if get_args(kind) else kind)
    for payload in await payloads(family, turn):
        adapter.validate_json(payload)
