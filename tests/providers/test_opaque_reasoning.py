import msgspec
import pytest
from tests.providers.streams import HELLO, MemoryBlobs, endpoint, message_of, request, text_of, translated

from halocline.protocol.events import ThinkingDelta
from halocline.protocol.messages import AssistantMessage, Text, Thinking, ToolCall, ToolResult
from halocline.providers.endpoint import Endpoint
from halocline.providers.openai_chat.request import encode_messages, to_wire
from halocline.providers.openai_chat.stream import FromWire

CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
ROUTER = endpoint("openrouter", "google/gemini-3-pro")
LITELLM = endpoint("litellm", "claude", base_url="http://127.0.0.1:4000/v1")
GOOGLE = endpoint("openai", "gemini-3-pro", base_url="https://generativelanguage.googleapis.com/v1beta/openai")


def replied(at: Endpoint, *deltas: dict) -> list:
    sent = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    sent.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    return translated(FromWire(request(), at), [b"data: %s\n\n" % msgspec.json.encode(each) for each in sent])


def handed_back(message: AssistantMessage, at: Endpoint) -> dict:
    """The reply as the next request to `at` has it."""
    results = [ToolResult(call.id, (Text("ok"),)) for call in message.tool_calls]
    body = b"".join(to_wire(request(HELLO, message, *results), at, encode_messages(at, MemoryBlobs())))
    return msgspec.json.decode(body)["messages"][2]


DETAILS = [
    {"type": "reasoning.text", "text": "Let me ", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "text": "see.", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "text": "And on.", "index": 1},
    {"type": "reasoning.encrypted", "data": "ZW5j", "id": "c1", "format": "google-gemini-v1", "index": 2},
    {"type": "reasoning.encrypted", "data": "bW9y", "id": "c2", "format": "google-gemini-v1", "index": 2},
]
JOINED = [
    {
        "type": "reasoning.text",
        "text": "Let me see.",
        "format": "anthropic-claude-v1",
        "index": 0,
        "signature": "c2ln",
    },
    *DETAILS[3:],
]


def test_reasoning_details_of_openrouter_go_back_with_their_pieces_joined() -> None:
    deltas = [{"content": "", "reasoning": each.get("text"), "reasoning_details": [each]} for each in DETAILS]
    events = replied(ROUTER, *deltas, {"tool_calls": [CALL]})
    sent = handed_back(message_of(events), ROUTER)
    assert sent["reasoning_details"] == JOINED
    assert "reasoning" not in sent
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Let me see.And on."


def test_reasoning_that_only_the_details_have_is_shown() -> None:
    events = replied(ROUTER, {"reasoning_details": [DETAILS[0]]}, {"content": "Hi"})
    assert [event.text for event in events if isinstance(event, ThinkingDelta)] == ["Let me "]
    assert text_of(events) == "Hi"


def test_thinking_blocks_of_litellm_go_back_with_their_signature() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Let me ", "signature": None},
        {"type": "thinking", "thinking": "see.", "signature": None},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZW5j"},
        {"type": "redacted_thinking", "data": "bW9y"},
    ]
    deltas = [{"reasoning_content": each.get("thinking"), "thinking_blocks": [each]} for each in blocks]
    sent = handed_back(message_of(replied(LITELLM, *deltas, {"tool_calls": [CALL]})), LITELLM)
    assert sent["thinking_blocks"] == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        *blocks[3:],
    ]


@pytest.mark.parametrize("field", ["extra_content", "provider_specific_fields"])
def test_what_stands_at_a_call_goes_back_at_this_call(field: str) -> None:
    signed = {"google": {"thought_signature": "c2ln"}}
    other = {"index": 1, "id": "c2", "function": {"name": "list_files", "arguments": "{}"}}
    sent = handed_back(
        message_of(replied(GOOGLE, {"tool_calls": [CALL | {field: signed}]}, {"tool_calls": [other]})), GOOGLE
    )
    first, second = sent["tool_calls"]
    assert first[field] == signed
    assert field not in second


@pytest.mark.parametrize(
    "other",
    [endpoint("openrouter", "openai/gpt-5.6"), endpoint("litellm", "google/gemini-3-pro")],
    ids=["another model", "another vendor"],
)
def test_opaque_fields_go_back_only_to_the_model_that_made_them(other: Endpoint) -> None:
    signed = CALL | {"extra_content": {"x": 1}}
    message = message_of(replied(ROUTER, {"reasoning_details": DETAILS[:3]}, {"tool_calls": [signed]}))
    sent = handed_back(message, other)
    assert "reasoning_details" not in sent
    assert sent["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
    ]


def test_fields_of_another_family_under_the_same_name_are_not_read() -> None:
    message = AssistantMessage((Thinking(redacted="b64=", provider="openrouter"), ToolCall("c1", "read_file")))
    assert handed_back(message, ROUTER).keys() == {"role", "content", "tool_calls"}


def test_entries_that_are_no_objects_are_passed_over() -> None:
    message = message_of(replied(ROUTER, {"content": "Hi", "reasoning_details": [1, None, "x"]}))
    assert message.content == (Text("Hi"),)
