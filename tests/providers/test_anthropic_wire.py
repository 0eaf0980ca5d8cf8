import re

import msgspec
import pytest
from tests.providers.streams import (
    HELLO,
    MemoryBlobs,
    call,
    endpoint,
    message_of,
    request,
    text_of,
    translated,
    usage_of,
)

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Note,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.providers.anthropic.request import encode_messages, to_wire
from halocline.providers.anthropic.stream import FromWire

ENDPOINT = endpoint("anthropic", "claude-sonnet-5-5")
CACHE = {"type": "ephemeral"}


def wire(asked: Request, **blobs: bytes) -> dict:
    return msgspec.json.decode(b"".join(to_wire(asked, ENDPOINT, encode_messages(ENDPOINT, MemoryBlobs(**blobs)))))


def messages(asked: Request, **blobs: bytes) -> list[dict]:
    """The wire's messages without their marks for the cache."""
    sent = wire(asked, **blobs)["messages"]
    return [
        {**one, "content": [{k: v for k, v in block.items() if k != "cache_control"} for block in one["content"]]}
        for one in sent
    ]


def said(*parts: Text | Thinking | ToolCall) -> AssistantMessage:
    return AssistantMessage(content=parts)


def result(id: str, text: str = "done", **fields: object) -> ToolResult:
    return ToolResult(call=id, content=(Text(text),), **fields)


def test_a_request_holds_model_system_tools_and_messages() -> None:
    tool = ToolSpec("read_file", "Reads.", {"type": "object"})
    assert wire(request(tools=(tool,), max_tokens=99)) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 99,
        "stream": True,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": {"type": "object"}}],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": CACHE}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello", "cache_control": CACHE}]}],
    }


def test_the_reply_may_be_as_long_as_the_model_can() -> None:
    assert wire(request())["max_tokens"] == 128_000


def test_the_model_may_be_named_with_its_provider() -> None:
    asked = Request(model="anthropic/claude-opus-5-5", system="", messages=(HELLO,))
    assert wire(asked)["model"] == "claude-opus-5-5"
    assert "system" not in wire(asked)


def test_results_come_first_in_the_message_after_their_calls() -> None:
    asked = request(
        HELLO, said(call("a"), call("b")), result("a"), result("b", is_error=True), UserMessage((Text("And now?"),))
    )
    assert messages(asked)[2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "done"}]},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "done"}],
                    "is_error": True,
                },
                {"type": "text", "text": "And now?"},
            ],
        }
    ]


def test_notes_are_wrapped_in_a_tag_that_names_their_source() -> None:
    asked = request(UserMessage((Text("Hello"), Note("It is noon.", "environment"))))
    assert messages(asked)[0]["content"][1]["text"] == "<environment>\nIt is noon.\n</environment>"


def test_pictures_are_sent_in_base64() -> None:
    asked = request(UserMessage((Image("image/png", "pixel"), Image("image/png", "gone"))))
    assert messages(asked, pixel=b"\x00\x01")[0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAE="}},
        {"type": "text", "text": "[Image missing: its file is gone.]"},
    ]


def test_blank_text_and_empty_messages_are_left_out() -> None:
    asked = request(HELLO, said(Text("  ")), UserMessage((Text(""), Text("Still there?"))), ToolResult("a", ()))
    assert messages(asked) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a"},
                {"type": "text", "text": "Hello"},
                {"type": "text", "text": "Still there?"},
            ],
        }
    ]


def test_signed_thinking_goes_back_only_to_the_provider_that_made_it() -> None:
    thoughts = (
        Thinking("Hm.", signature="sig", provider="anthropic"),
        Thinking(redacted="opaque", provider="anthropic"),
        Thinking("Foreign.", signature="sig", provider="deepseek"),
        Thinking("Unsigned.", provider="anthropic"),
    )
    assert messages(request(HELLO, said(*thoughts, Text("Hi"))))[1]["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "Hi"},
    ]


def test_ids_of_other_providers_are_made_acceptable_on_both_sides() -> None:
    sent = messages(request(HELLO, said(call("functions.read:0")), result("functions.read:0")))
    assert sent[1]["content"][0]["id"] == sent[2]["content"][0]["tool_use_id"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sent[1]["content"][0]["id"])


def test_the_last_two_messages_of_the_user_side_are_marked_for_the_cache() -> None:
    history = [HELLO]
    for id in "abc":
        history += [said(call(id)), result(id)]
    marked = ["cache_control" in message["content"][-1] for message in wire(request(*history))["messages"]]
    assert marked == [False, False, False, False, True, False, True]


def test_the_next_request_repeats_the_messages_of_the_last_one_byte_for_byte() -> None:
    kept = encode_messages(ENDPOINT, MemoryBlobs())
    history = (HELLO, said(call("a", path="x")), result("a"))
    longer = (*history, said(Text("So.")), UserMessage((Text("Go on"),)))
    first, second = (b"".join(to_wire(request(*some), ENDPOINT, kept)) for some in (history, longer))
    mark = b',"cache_control":{"type":"ephemeral"}'
    first, second = (body[body.index(b'"messages"') :].replace(mark, b"") for body in (first, second))
    assert second.startswith(first.removesuffix(b"]}"))


def test_a_message_is_encoded_once() -> None:
    blobs = MemoryBlobs(pixel=b"1")
    kept = encode_messages(ENDPOINT, blobs)
    asked = request(UserMessage((Image("image/png", "pixel"),)))
    first = to_wire(asked, ENDPOINT, kept)
    blobs.blobs.clear()
    assert to_wire(asked, ENDPOINT, kept) == first


STREAM = b"""event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5",\
"content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":7,"cache_read_input_tokens":90,\
"output_tokens":1}}}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me see."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Gr\xc3\xbc\xc3\x9fe, "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"world"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,\
"content_block":{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\\"path\\": \\"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".py\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":30}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

"""


def replayed(*chunks: bytes) -> list:
    return translated(FromWire(request(), ENDPOINT), chunks)


def test_a_recorded_stream_becomes_our_events() -> None:
    events = replayed(STREAM)
    assert events[:-2] == [
        ThinkingDelta("Let me see."),
        TextDelta("Grüße, "),
        TextDelta("world"),
        ToolCallDelta("toolu_1", "read_file", '{"path": "a'),
        ToolCallDelta("toolu_1", "read_file", '.py"}'),
    ]
    assert message_of(events) == AssistantMessage(
        content=(
            Thinking("Let me see.", signature="c2ln", provider="anthropic"),
            Thinking(redacted="b3BhcXVl", provider="anthropic"),
            Text("Grüße, world"),
            ToolCall("toolu_1", "read_file", {"path": "a.py"}),
        ),
        model="anthropic/claude-sonnet-5-5",
    )


def test_usage_counts_the_newest_numbers_and_has_its_price() -> None:
    reported = usage_of(replayed(STREAM))
    assert reported.usage == Usage(input=10, output=42, cache_read=90, cache_write=7)
    assert reported.cost == pytest.approx((10 * 2 + 42 * 10 + 90 * 0.1 + 7 * 2.5) / 1_000_000)
    assert reported.window == 1_000_000


def test_a_recorded_stream_may_be_cut_at_any_byte() -> None:
    whole = replayed(STREAM)
    for at in range(0, len(STREAM), 3):
        assert replayed(STREAM[:at], STREAM[at:]) == whole
    assert replayed(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == whole


def test_a_stream_that_ends_before_its_end_is_a_network_error() -> None:
    start = STREAM.index(b"event: message_delta")
    for end in (0, 300, start - 1, start):
        with pytest.raises(ModelError) as caught:
            replayed(STREAM[:end])
        assert caught.value.kind is ModelErrorKind.NETWORK


def event(**fields: object) -> bytes:
    return b"data: %s\n\n" % msgspec.json.encode(fields)


def delta(index: int, type: str, **fields: object) -> bytes:
    return event(type="content_block_delta", index=index, delta={"type": type, **fields})


def stopped(reason: str) -> bytes:
    return event(type="message_delta", delta={"stop_reason": reason}) + event(type="message_stop")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", StopReason.END_TURN),
        ("tool_use", StopReason.END_TURN),
        ("stop_sequence", StopReason.END_TURN),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.MAX_TOKENS),
        ("pause_turn", StopReason.MAX_TOKENS),
        ("refusal", StopReason.REFUSAL),
        ("something_new", StopReason.END_TURN),
    ],
)
def test_stop_reasons_are_translated(said: str, meant: StopReason) -> None:
    assert message_of(replayed(delta(0, "text_delta", text="x"), stopped(said))).stop_reason is meant


def test_deltas_without_a_beginning_are_not_lost() -> None:
    events = replayed(
        delta(4, "text_delta", text="Hi"), delta(9, "input_json_delta", partial_json="{}"), stopped("end_turn")
    )
    message = message_of(events)
    assert message.text == "Hi"
    assert message.tool_calls[0].id
    assert message.tool_calls[0].name == "unnamed"


def test_a_block_may_bring_its_content_at_once() -> None:
    tool = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}
    events = replayed(
        event(type="content_block_start", index=0, content_block={"type": "text", "text": "Hi"}),
        event(type="content_block_start", index=1, content_block=tool),
        stopped("tool_use"),
    )
    assert text_of(events) == "Hi"
    assert message_of(events).tool_calls == (ToolCall("t", "read_file", {"path": "a"}),)


def test_unknown_events_and_blocks_are_passed_over() -> None:
    odd = event(type="something_new", index=1, data=[1]) + event(
        type="content_block_start", index=0, content_block={"type": "something_new", "id": "s", "name": "web"}
    )
    assert message_of(replayed(odd, delta(1, "text_delta", text="x"), stopped("end_turn"))).content == (Text("x"),)


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("overloaded_error", ModelErrorKind.OVERLOADED),
        ("rate_limit_error", ModelErrorKind.RATE_LIMIT),
        ("api_error", ModelErrorKind.SERVER),
        ("authentication_error", ModelErrorKind.AUTH),
        ("something_new", ModelErrorKind.SERVER),
    ],
)
def test_an_error_in_the_stream_has_its_kind(type: str, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(delta(0, "text_delta", text="x"), event(type="error", error={"type": type, "message": "No."}))
    assert caught.value.kind is kind
    assert "No." in caught.value.text


def test_a_refusal_may_be_without_words() -> None:
    assert message_of(replayed(stopped("refusal"))).stop_reason is StopReason.REFUSAL


@pytest.mark.parametrize("content", [b"", delta(0, "thinking_delta", thinking="Hm"), delta(0, "text_delta", text=" ")])
def test_a_reply_that_says_nothing_is_an_error(content: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(content, stopped("end_turn"))
    assert caught.value.kind is ModelErrorKind.EMPTY
