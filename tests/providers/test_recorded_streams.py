from collections.abc import Iterator
from pathlib import Path

import h11
import pytest
from tests.providers.raw_server import read_request, serving
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, text_of, translated, usage_of

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import StopReason, Usage
from halocline.providers import anthropic_stream, openai_stream, responses_stream
from halocline.providers.anthropic import Anthropic
from halocline.providers.openai_chat import OpenAIChat
from halocline.providers.openai_responses import OpenAIResponses

RECORDED = Path(__file__).parent / "recorded" / "llama.cpp"
FAMILIES = {
    "anthropic": (Anthropic, anthropic_stream.FromWire),
    "llamacpp": (OpenAIChat, openai_stream.FromWire),
    "openai-responses": (OpenAIResponses, responses_stream.FromWire),
}
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)
EVERY_STREAM = pytest.mark.parametrize("stream", ["text", "calls", "cut"])
LIMITS = {"text": 16, "calls": 90, "cut": 38}


def response(family: str, stream: str) -> bytes:
    return (RECORDED / f"{family}-{stream}.http").read_bytes()


def chunks_of(data: bytes) -> Iterator[bytes]:
    """The body's chunks, as they were sent."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        if isinstance(event, h11.Data):
            yield bytes(event.data)


def replayed(family: str, stream: str, *chunks: bytes) -> list:
    _, translator = FAMILIES[family]
    return translated(translator(request(max_tokens=LIMITS[stream]), endpoint(family, "nonsense")), chunks)


@EVERY_STREAM
@EVERY_FAMILY
def test_a_real_stream_may_be_cut_at_any_byte(family: str, stream: str) -> None:
    body = b"".join(chunks_of(response(family, stream)))
    whole = replayed(family, stream, body)
    for at in range(1, len(body)):
        events = replayed(family, stream, body[:at], body[at:])
        assert (message_of(events), usage_of(events)) == (message_of(whole), usage_of(whole))
        assert text_of(events) == message_of(whole).text


@EVERY_STREAM
@EVERY_FAMILY
async def test_a_real_response_comes_through_a_socket_in_small_pieces(family: str, stream: str) -> None:
    data = response(family, stream)

    async def answer(reader, writer) -> None:
        await read_request(reader)
        for at in range(0, len(data), 7):
            writer.write(data[at : at + 7])
            await writer.drain()

    kind, _ = FAMILIES[family]
    async with serving(answer) as url:
        model = kind(endpoint(family, "nonsense", base_url=url), MemoryBlobs())
        events = await collected(model, request(max_tokens=LIMITS[stream]))
        await model.close()
    assert message_of(events) == message_of(replayed(family, stream, *chunks_of(data)))


@EVERY_FAMILY
def test_a_real_text_is_what_all_families_heard(family: str) -> None:
    events = replayed(family, "text", *chunks_of(response(family, "text")))
    same = replayed("llamacpp", "text", *chunks_of(response("llamacpp", "text")))
    assert message_of(events).text == message_of(same).text != ""
    assert message_of(events).stop_reason is StopReason.MAX_TOKENS
    assert usage_of(events).usage == Usage(input=43, output=16)


@EVERY_FAMILY
def test_real_calls_have_names_ids_and_whole_arguments(family: str) -> None:
    calls = message_of(replayed(family, "calls", *chunks_of(response(family, "calls")))).tool_calls
    assert len({call.id for call in calls}) == len(calls) > 1
    assert {call.name for call in calls} <= {"read_file", "update_todos", "list_files"}
    assert all(call.arguments or call.name == "list_files" for call in calls[:-1])
    assert not any(call.malformed for call in calls[:-1])


@EVERY_FAMILY
def test_a_real_call_that_was_cut_is_malformed(family: str) -> None:
    message = message_of(replayed(family, "cut", *chunks_of(response(family, "cut"))))
    assert (message.tool_calls[-1].malformed, message.stop_reason) == ("{", StopReason.MAX_TOKENS)


@EVERY_FAMILY
async def test_a_real_refusal_of_a_long_prompt_is_a_context_that_is_full(family: str) -> None:
    async def answer(reader, writer) -> None:
        await read_request(reader)
        writer.write(response(family, "overflow"))
        await writer.drain()

    kind, _ = FAMILIES[family]
    async with serving(answer) as url:
        model = kind(endpoint(family, "nonsense", base_url=url), MemoryBlobs())
        with pytest.raises(ModelError) as caught:
            await collected(model)
        await model.close()
    assert caught.value.kind is ModelErrorKind.CONTEXT_EXCEEDED
