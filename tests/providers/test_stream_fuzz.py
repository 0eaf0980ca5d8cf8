"""Streams as no server should send them: the only thing that may happen is a `ModelError`."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.providers.streams import endpoint, message_of, other_forms, request, text_of, translated
from tests.tables import for_each

from halocline.protocol.errors import ModelError
from halocline.protocol.messages import ToolCall
from halocline.providers.anthropic.stream import FromWire as AnthropicFromWire
from halocline.providers.gemini.stream import FromWire as GeminiFromWire
from halocline.providers.ollama.stream import FromWire as OllamaFromWire
from halocline.providers.openai_chat.stream import FromWire as OpenAIFromWire
from halocline.providers.openai_responses.stream import FromWire as ResponsesFromWire
from halocline.providers.reply import ReplyReader

WORDS = st.text(max_size=20)
MAYBE_WORDS = st.none() | WORDS
INDEXES = st.integers(0, 3)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that may lack any of their fields."""
    return st.fixed_dictionaries({}, optional=fields)


ANTHROPIC_BLOCKS = objects(
    type=st.sampled_from(["text", "tool_use", "thinking", "redacted_thinking", "other"]),
    id=MAYBE_WORDS,
    name=MAYBE_WORDS,
    text=MAYBE_WORDS,
    input=st.none() | st.dictionaries(WORDS, WORDS, max_size=2),
)
ANTHROPIC_DELTAS = objects(
    type=st.sampled_from(["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "other"]),
    text=MAYBE_WORDS,
    partial_json=MAYBE_WORDS,
    thinking=MAYBE_WORDS,
    signature=MAYBE_WORDS,
    stop_reason=st.none() | st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal", "odd"]),
)
ANTHROPIC_TYPES = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
    "other",
]
ANTHROPIC_EVENTS = objects(
    type=st.sampled_from(ANTHROPIC_TYPES),
    index=INDEXES,
    content_block=ANTHROPIC_BLOCKS,
    delta=ANTHROPIC_DELTAS,
    message=objects(usage=objects(input_tokens=st.none() | st.integers(0, 9))),
    usage=objects(output_tokens=st.none() | st.integers(0, 9)),
    error=st.none() | WORDS | objects(type=MAYBE_WORDS, message=MAYBE_WORDS),
)

OPENAI_CALLS = objects(
    index=st.none() | INDEXES,
    id=st.none() | st.sampled_from(["", "x", "y"]),
    function=objects(name=MAYBE_WORDS, arguments=MAYBE_WORDS | st.dictionaries(WORDS, WORDS, max_size=2)),
)
OPENAI_DELTAS = objects(
    content=MAYBE_WORDS | st.lists(objects(type=WORDS, text=MAYBE_WORDS) | WORDS, max_size=2),
    reasoning_content=MAYBE_WORDS,
    refusal=MAYBE_WORDS,
    tool_calls=st.none() | st.lists(OPENAI_CALLS, max_size=2),
)
OPENAI_EVENTS = objects(
    choices=st.none()
    | st.lists(
        objects(
            delta=OPENAI_DELTAS,
            finish_reason=st.none() | st.sampled_from(["stop", "tool_calls", "length", "error", "odd"]),
        ),
        max_size=2,
    ),
    usage=st.none() | objects(prompt_tokens=st.integers(0, 9), total_tokens=st.none() | st.integers(0, 9)),
    error=st.none() | WORDS | objects(code=MAYBE_WORDS | st.integers(), message=MAYBE_WORDS),
)

GEMINI_PARTS = objects(
    text=MAYBE_WORDS,
    thought=st.none() | st.booleans(),
    thoughtSignature=MAYBE_WORDS,
    functionCall=st.none()
    | objects(
        name=MAYBE_WORDS,
        id=st.none() | st.sampled_from(["", "x", "y"]),
        args=st.none() | WORDS | st.lists(WORDS, max_size=1) | st.dictionaries(WORDS, WORDS, max_size=2),
    ),
    inlineData=objects(mimeType=WORDS),
)
GEMINI_COUNTS = st.none() | st.integers(0, 9)
GEMINI_EVENTS = objects(
    candidates=st.none()
    | st.lists(
        objects(
            content=st.none() | objects(role=WORDS, parts=st.none() | st.lists(GEMINI_PARTS, max_size=3)),
            finishReason=st.none()
            | st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "OTHER", "MALFORMED_FUNCTION_CALL", "ODD"]),
            finishMessage=MAYBE_WORDS,
        ),
        max_size=2,
    ),
    promptFeedback=objects(blockReason=MAYBE_WORDS),
    usageMetadata=st.none() | objects(promptTokenCount=GEMINI_COUNTS, cachedContentTokenCount=GEMINI_COUNTS),
    error=st.none() | WORDS | objects(code=MAYBE_WORDS | st.integers(), status=MAYBE_WORDS, message=MAYBE_WORDS),
)
RESPONSES_PASSAGES = st.lists(
    objects(
        type=st.sampled_from(["output_text", "refusal", "summary_text", "reasoning_text", "other"]),
        text=MAYBE_WORDS,
        refusal=MAYBE_WORDS,
    )
    | WORDS,
    max_size=2,
)
RESPONSES_ITEMS = objects(
    type=st.sampled_from(["message", "function_call", "reasoning", "other"]),
    id=st.none() | st.sampled_from(["", "x", "y"]),
    call_id=st.none() | st.sampled_from(["", "x", "y"]),
    name=MAYBE_WORDS,
    arguments=MAYBE_WORDS | st.dictionaries(WORDS, WORDS, max_size=2),
    content=st.none() | RESPONSES_PASSAGES,
    summary=st.none() | RESPONSES_PASSAGES,
    encrypted_content=MAYBE_WORDS,
)
RESPONSES_STEMS = [
    "output_item",
    "output_text",
    "refusal",
    "reasoning_summary_text",
    "reasoning_text",
    "function_call_arguments",
    "other",
]
RESPONSES_TYPES = [f"response.{stem}.{ending}" for stem in RESPONSES_STEMS for ending in ("added", "delta", "done")]
RESPONSES_EVENTS = objects(
    type=st.sampled_from([*RESPONSES_TYPES, "response.completed", "response.incomplete", "response.failed", "error"]),
    output_index=st.none() | INDEXES,
    item_id=st.none() | st.sampled_from(["", "x", "y"]),
    content_index=st.none() | INDEXES,
    summary_index=st.none() | INDEXES,
    delta=MAYBE_WORDS | st.dictionaries(WORDS, WORDS, max_size=1),
    text=MAYBE_WORDS,
    refusal=MAYBE_WORDS,
    arguments=MAYBE_WORDS,
    item=RESPONSES_ITEMS,
    response=objects(
        output=st.none() | st.lists(RESPONSES_ITEMS, max_size=2),
        usage=st.none() | objects(input_tokens=st.none() | st.integers(0, 9)),
        incomplete_details=st.none() | objects(reason=MAYBE_WORDS),
        error=st.none() | WORDS | objects(code=MAYBE_WORDS, message=MAYBE_WORDS),
    ),
    code=MAYBE_WORDS,
    message=MAYBE_WORDS,
)
OLLAMA_LINES = objects(
    message=st.none()
    | objects(
        content=MAYBE_WORDS,
        thinking=MAYBE_WORDS,
        tool_calls=st.none()
        | st.lists(
            objects(
                id=MAYBE_WORDS,
                function=st.none()
                | objects(name=MAYBE_WORDS, arguments=st.none() | WORDS | st.dictionaries(WORDS, WORDS, max_size=2)),
            ),
            max_size=2,
        ),
    ),
    done=st.booleans(),
    done_reason=MAYBE_WORDS | st.just("length"),
    prompt_eval_count=st.none() | st.integers(0, 9),
    eval_count=st.none() | st.integers(0, 9),
    error=st.none() | WORDS,
)
EVENTS = {
    "anthropic": ANTHROPIC_EVENTS,
    "openai": OPENAI_EVENTS,
    "gemini": GEMINI_EVENTS,
    "responses": RESPONSES_EVENTS,
    "ollama": OLLAMA_LINES,
}


def translators() -> dict[str, ReplyReader]:
    return {
        "anthropic": AnthropicFromWire(request(), endpoint("anthropic")),
        "openai": OpenAIFromWire(request(), endpoint("openai")),
        "gemini": GeminiFromWire(request(), endpoint("gemini")),
        "responses": ResponsesFromWire(request(), endpoint("openai-responses")),
        "ollama": OllamaFromWire(request(), endpoint("ollama")),
    }


def outcome(family: str, chunks: list[bytes]) -> list[Any]:
    """The events, or none when there was a ModelError; whatever else is raised fails the test."""
    try:
        return translated(translators()[family], chunks)
    except ModelError:
        return []


def check(events: list[Any]) -> None:
    if not events:
        return
    message = message_of(events)
    assert text_of(events) == message.text
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    assert all(call.id and call.name for call in message.tool_calls)
    assert all(not (call.malformed and call.arguments) for call in message.tool_calls)
    assert all(isinstance(part, ToolCall) or part for part in message.content)


def stream_of(payloads: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %s\n\n" % msgspec.json.encode(payload) for payload in payloads)


@given(st.lists(ANTHROPIC_EVENTS, max_size=8))
def test_anthropic_streams_with_missing_fields_lose_no_text(payloads: list[dict[str, Any]]) -> None:
    check(outcome("anthropic", [stream_of([*payloads, {"type": "message_stop"}])]))


@given(st.lists(OPENAI_EVENTS, max_size=8))
def test_openai_streams_with_missing_fields_lose_no_text(payloads: list[dict[str, Any]]) -> None:
    check(outcome("openai", [stream_of(payloads) + b"data: [DONE]\n\n"]))


@given(st.lists(GEMINI_EVENTS, max_size=8))
def test_gemini_streams_with_missing_fields_lose_no_text(payloads: list[dict[str, Any]]) -> None:
    check(outcome("gemini", [stream_of([*payloads, {"candidates": [{"finishReason": "STOP"}]}])]))


@given(st.lists(RESPONSES_EVENTS, max_size=8))
def test_responses_streams_with_missing_fields_lose_no_text(payloads: list[dict[str, Any]]) -> None:
    check(outcome("responses", [stream_of([*payloads, {"type": "response.completed", "response": {}}])]))


@given(st.lists(OLLAMA_LINES, max_size=8))
def test_ollama_streams_with_missing_fields_lose_no_text(payloads: list[dict[str, Any]]) -> None:
    check(outcome("ollama", [stream_of([*payloads, {"done": True}])]))


@given(st.sampled_from(list(EVENTS)), st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_give_events_or_a_model_error(family: str, chunks: list[bytes]) -> None:
    check(outcome(family, [b"data: " + chunk + b"\n\n" for chunk in chunks]))


@pytest.mark.parametrize("family", EVENTS)
@given(data=st.data())
def test_a_damaged_stream_gives_events_or_a_model_error(family: str, data: st.DataObject) -> None:
    stream = bytearray(stream_of(data.draw(st.lists(EVENTS[family], min_size=1, max_size=4))))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    check(outcome(family, [bytes(stream)]))


@pytest.mark.parametrize("family", EVENTS)
@given(data=st.data())
def test_a_field_of_another_type_gives_events_or_a_model_error(family: str, data: st.DataObject) -> None:
    payloads = data.draw(st.lists(EVENTS[family], min_size=1, max_size=4))
    at = data.draw(st.integers(0, len(payloads) - 1))
    forms = [changed for _, changed in other_forms(payloads[at])]
    changed = data.draw(st.sampled_from(forms)) if forms else payloads[at]
    check(outcome(family, [stream_of([*payloads[:at], changed, *payloads[at + 1 :]])]))


@for_each(
    "payload", [b"null", b"[]", b"7", b'"text"', b"", b"{", b'{"type": 7}', b'{"choices": "x"}', b'{"candidates": [7]}']
)
@for_each("family", EVENTS)
def test_payloads_that_are_no_events_never_raise_anything_else(family: str, payload: bytes) -> None:
    check(outcome(family, [b"data: " + payload + b"\n\n"]))


def test_a_huge_delta_arrives_whole() -> None:
    text = "x" * 5_000_000
    stream = stream_of([{"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}])
    chunks = [stream[at : at + 65_536] for at in range(0, len(stream), 65_536)]
    assert message_of(outcome("openai", chunks)).text == text
