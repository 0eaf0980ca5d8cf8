"""What each family's servers tell of tokens, in the shapes in which they tell it, and what we make of it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.net.raw_server import STREAM_HEAD, read_request, serving
from tests.providers.streams import MemoryBlobs, endpoint, message_of, request, translated, usage_of
from tests.tables import for_each

from halocline.ports.model import Model, ModelEvent
from halocline.protocol.errors import ModelError
from halocline.protocol.events import StepRetried, UsageReported
from halocline.protocol.messages import StopReason, Usage
from halocline.providers.anthropic import stream as anthropic_stream
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.gemini import stream as gemini_stream
from halocline.providers.gemini.request import Gemini
from halocline.providers.openai_chat import stream as openai_stream
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses import stream as responses_stream
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.text_tools.model import TextProtocol
from halocline.providers.wrappers.retry import Retrying

Payloads = Sequence[dict[str, Any]]

FAMILIES = {
    "anthropic": (Anthropic, anthropic_stream.FromWire),
    "openai": (OpenAIChat, openai_stream.FromWire),
    "openai-responses": (OpenAIResponses, responses_stream.FromWire),
    "gemini": (Gemini, gemini_stream.FromWire),
}
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)


def claude(start: dict[str, Any] | None, *deltas: dict[str, Any]) -> Payloads:
    counted = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage} for usage in deltas]
    return (
        {"type": "message_start", "message": {"usage": start} if start else {}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        *(counted or [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}]),
        {"type": "message_stop"},
    )


def chat(*usages: dict[str, Any] | None) -> Payloads:
    said = {"choices": [{"delta": {"content": "x"}}], "usage": None}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    return (said, end, *({"choices": [], "usage": usage} for usage in usages))


def responses(usage: dict[str, Any] | None) -> Payloads:
    return (
        {"type": "response.output_text.delta", "output_index": 0, "delta": "x"},
        {"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}},
    )


def gemini(*usages: dict[str, Any]) -> Payloads:
    said = {"candidates": [{"content": {"parts": [{"text": "x"}]}}]}
    counted = [{**said, "usageMetadata": usage} for usage in usages] or [said]
    return (*counted, {"candidates": [{"finishReason": "STOP"}]})


TOLD = {
    "anthropic, the output counted on": (
        "anthropic",
        claude({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 5}, {"output_tokens": 40}),
        Usage(input=9, output=40),
    ),
    "anthropic, a cache read and written beside the input": (
        "anthropic",
        claude(
            {"input_tokens": 9, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7, "output_tokens": 1},
            {"output_tokens": 40},
        ),
        Usage(input=9, output=40, cache_read=90, cache_write=7),
    ),
    "anthropic, the input corrected at the end": (
        "anthropic",
        claude({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 9, "output_tokens": 40}),
        Usage(input=9, output=40),
    ),
    "anthropic, counts at the end alone": ("anthropic", claude(None, {"output_tokens": 40}), Usage(output=40)),
    "chat, once at the end": (
        "openai",
        chat({"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140}),
        Usage(input=100, output=40),
    ),
    "chat, growing with each chunk": (
        "openai",
        chat({"prompt_tokens": 100, "completion_tokens": 3}, {"prompt_tokens": 100, "completion_tokens": 40}),
        Usage(input=100, output=40),
    ),
    "chat, a null behind the count": (
        "openai",
        chat({"prompt_tokens": 100, "completion_tokens": 40}, None),
        Usage(input=100, output=40),
    ),
    "chat, a cache within the input": (
        "openai",
        chat({"prompt_tokens": 100, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": 90}}),
        Usage(input=10, output=40, cache_read=90),
    ),
    "chat, DeepSeek's cache": (
        "openai",
        chat({"prompt_tokens": 100, "completion_tokens": 40, "prompt_cache_hit_tokens": 90}),
        Usage(input=10, output=40, cache_read=90),
    ),
    "chat, reasoning within the output": (
        "openai",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 40,
                "total_tokens": 140,
                "completion_tokens_details": {"reasoning_tokens": 30},
            }
        ),
        Usage(input=100, output=40, reasoning=30),
    ),
    "chat, xAI's reasoning beside the output": (
        "openai",
        chat(
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 140,
                "completion_tokens_details": {"reasoning_tokens": 30},
            }
        ),
        Usage(input=100, output=40, reasoning=30),
    ),
    "responses, a cache within the input, reasoning within the output": (
        "openai-responses",
        responses(
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 10},
                "output_tokens": 40,
                "output_tokens_details": {"reasoning_tokens": 30},
            }
        ),
        Usage(input=10, output=40, cache_read=80, cache_write=10, reasoning=30),
    ),
    "gemini, growing with each chunk": (
        "gemini",
        gemini(
            {"promptTokenCount": 100, "candidatesTokenCount": 4}, {"promptTokenCount": 100, "candidatesTokenCount": 40}
        ),
        Usage(input=100, output=40),
    ),
    "gemini, a cache within the input, thoughts beside the output": (
        "gemini",
        gemini(
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 90,
                "candidatesTokenCount": 10,
                "thoughtsTokenCount": 30,
            }
        ),
        Usage(input=10, output=40, cache_read=90, reasoning=30),
    ),
    "gemini, a count that is left out later": (
        "gemini",
        gemini({"promptTokenCount": 100, "cachedContentTokenCount": 90}, {"candidatesTokenCount": 40}),
        Usage(input=10, output=40, cache_read=90),
    ),
}


def replayed(family: str, payloads: Payloads, model: str = "test-model") -> list[ModelEvent]:
    _, translator = FAMILIES[family]
    return translated(translator(request(), endpoint(family, model)), [stream_of(payloads)])


def stream_of(payloads: Payloads) -> bytes:
    return b"".join(b"data: %s\n\n" % msgspec.json.encode(payload) for payload in payloads)


@for_each("family, payloads, counted", TOLD.values())
def test_every_token_is_counted_once(family: str, payloads: Payloads, counted: Usage) -> None:
    assert usage_of(replayed(family, payloads)).usage == counted


PRICED = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5.6",
    "openai-responses": "gpt-5.6",
    "gemini": "gemini-3.8-flash",
}

FINISHED = {
    "anthropic": claude({"input_tokens": 9}, {"output_tokens": 40}),
    "openai": chat({"prompt_tokens": 9, "completion_tokens": 40}),
    "openai-responses": responses({"input_tokens": 9, "output_tokens": 40}),
}


@pytest.mark.parametrize("family", FINISHED)
@pytest.mark.parametrize(
    ("most", "meant"),
    [(40, StopReason.MAX_TOKENS), (41, StopReason.END_TURN), (None, StopReason.END_TURN)],
)
def test_a_reply_as_long_as_was_allowed_is_cut_off_whatever_the_server_calls_it(
    family: str, most: int | None, meant: StopReason
) -> None:
    _, translator = FAMILIES[family]
    stream = stream_of(FINISHED[family])
    events = translated(translator(request(max_tokens=most), endpoint(family)), [stream])
    assert message_of(events).stop_reason is meant


@EVERY_FAMILY
def test_noughts_are_no_count(family: str) -> None:
    noughts = {
        "anthropic": claude({"input_tokens": 0}, {"output_tokens": 0}),
        "openai": chat({"prompt_tokens": 0, "completion_tokens": 0}),
        "openai-responses": responses({"input_tokens": 0, "output_tokens": 0}),
        "gemini": gemini({"promptTokenCount": 0, "candidatesTokenCount": 0}),
    }
    assert usage_of(replayed(family, noughts[family], PRICED[family])).cost is None


UNTOLD = {"anthropic": claude(None), "openai": chat(), "openai-responses": responses(None), "gemini": gemini()}


@EVERY_FAMILY
def test_what_a_server_does_not_tell_has_no_price_even_where_the_model_has_one(family: str) -> None:
    report = usage_of(replayed(family, UNTOLD[family], PRICED[family]))
    assert (report.usage, report.cost) == (Usage(), None)


def test_a_server_on_this_machine_costs_nothing_whatever_it_tells() -> None:
    events = translated(openai_stream.FromWire(request(), endpoint("ollama", "x")), [stream_of(chat())])
    assert usage_of(events).cost == 0.0


BEGUN = {
    "anthropic": (claude({"input_tokens": 9, "output_tokens": 1})[:2], Usage(input=9, output=1)),
    "openai": (
        ({"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}},),
        Usage(input=9, output=1),
    ),
    "openai-responses": (
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "usage": {"input_tokens": 9, "output_tokens": 1}},
            },
        ),
        Usage(input=9, output=1),
    ),
    "gemini": (gemini({"promptTokenCount": 9, "candidatesTokenCount": 1})[:1], Usage(input=9, output=1)),
}


async def heard(family: str, payloads: Payloads, wrap: Any = lambda model: model) -> list[ModelEvent]:
    """What a stream that breaks off gives before its error."""

    async def answer(reader: Any, writer: Any) -> None:
        await read_request(reader)
        data = stream_of(payloads)
        writer.write(STREAM_HEAD + b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()

    kind, _ = FAMILIES[family]
    events: list[ModelEvent] = []

    async def listen(model: Model) -> None:
        async for event in model.stream(request()):
            events.append(event)

    async with serving(answer) as url:
        model = kind(endpoint(family, base_url=url), MemoryBlobs())
        with pytest.raises(ModelError):
            await listen(wrap(model))
        await model.close()
    return events


@EVERY_FAMILY
async def test_an_attempt_that_breaks_off_tells_what_it_took(family: str) -> None:
    payloads, taken = BEGUN[family]
    assert usage_of(await heard(family, payloads)).usage == taken


@EVERY_FAMILY
async def test_an_attempt_that_told_nothing_reports_nothing(family: str) -> None:
    events = await heard(family, UNTOLD[family][:1])
    assert not any(isinstance(event, UsageReported) for event in events)


async def test_each_attempt_is_counted_before_the_next_one() -> None:
    payloads, taken = BEGUN["anthropic"]
    events = await heard("anthropic", payloads, lambda model: Retrying(model, waits=(0.0,)))
    told = [event for event in events if isinstance(event, UsageReported | StepRetried)]
    assert [type(event) for event in told] == [UsageReported, StepRetried, UsageReported]
    assert [event.usage for event in told if isinstance(event, UsageReported)] == [taken, taken]


async def test_an_attempt_behind_the_text_protocol_is_counted_too() -> None:
    payloads, taken = BEGUN["anthropic"]
    assert usage_of(await heard("anthropic", payloads, TextProtocol)).usage == taken
