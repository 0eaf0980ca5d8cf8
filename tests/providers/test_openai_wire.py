import msgspec
import pytest
from msgspec.structs import replace
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
from halocline.providers.catalog.models import ModelInfo, Prices
from halocline.providers.endpoint import Endpoint
from halocline.providers.openai_chat.request import encode_messages, to_wire
from halocline.providers.openai_chat.stream import FromWire

ENDPOINT = endpoint("openai", "gpt-5.6")


def wire(asked: Request, provider: str = "openai", **blobs: bytes) -> dict:
    return body(asked, endpoint(provider, "gpt-5.6"), **blobs)


def body(asked: Request, at: Endpoint, **blobs: bytes) -> dict:
    return msgspec.json.decode(b"".join(to_wire(asked, at, encode_messages(at, MemoryBlobs(**blobs)))))


def test_a_request_holds_model_tools_and_messages() -> None:
    tool = ToolSpec("read_file", "Reads.", {"type": "object"})
    function = {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}}
    assert wire(request(tools=(tool,))) == {
        "model": "gpt-5.6",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    }


@pytest.mark.parametrize(
    ("provider", "field"), [("openai", "max_completion_tokens"), ("groq", "max_tokens"), ("ollama", "max_tokens")]
)
def test_each_vendor_is_told_the_longest_reply_in_its_own_field(provider: str, field: str) -> None:
    assert wire(request(max_tokens=99), provider)[field] == 99


def test_a_vendor_that_reports_usage_unasked_is_not_asked() -> None:
    assert "stream_options" not in wire(request(), "mistral")


def test_calls_and_their_results_are_paired_by_id() -> None:
    reply = AssistantMessage((Text("Reading."), call("a", path="x"), call("b")))
    failed = ToolResult("b", (Text("No such file."),), is_error=True)
    sent = wire(request(HELLO, reply, ToolResult("a", (Text("text"),)), failed))["messages"]
    assert sent[2:] == [
        {
            "role": "assistant",
            "content": "Reading.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"x"}'}},
                {"id": "b", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "text"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: No such file."},
    ]


def test_words_and_notes_are_sent_as_plain_text() -> None:
    asked = request(UserMessage((Text("Hello"), Note("It is noon.", "environment"))))
    assert wire(asked)["messages"][1]["content"] == "Hello\n\n<environment>\nIt is noon.\n</environment>"


def test_pictures_of_results_follow_after_all_results() -> None:
    reply = AssistantMessage((call("a"), call("b")))
    shown = ToolResult("a", (Image("image/png", "pixel"),))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}}
    asked = request(HELLO, reply, shown, ToolResult("b", (Text("ok"),)), AssistantMessage((Text("Nice."),)))
    roles = [message["role"] for message in wire(asked, pixel=b"\x00\x01")["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user", "assistant"]
    assert wire(asked, pixel=b"\x00\x01")["messages"][5]["content"] == [picture]


def test_a_picture_in_a_prompt_is_sent_beside_its_words() -> None:
    sent = wire(request(UserMessage((Text("See"), Image("image/png", "pixel")))), pixel=b"\x00\x01")["messages"][1]
    assert [part["type"] for part in sent["content"]] == ["text", "image_url"]


@pytest.mark.parametrize(
    ("provider", "expected"), [("deepseek", {"reasoning_content": "Hm."}), ("openai", {}), ("openrouter", {})]
)
def test_reasoning_goes_back_only_to_the_vendor_that_made_and_wants_it(provider: str, expected: dict) -> None:
    reply = AssistantMessage((Thinking("Hm.", provider="deepseek"), Text("Hi")))
    sent = wire(request(HELLO, reply), provider)["messages"][2]
    assert sent == {"role": "assistant", "content": "Hi", **expected}


def test_a_reply_that_is_nothing_but_foreign_thinking_is_left_out() -> None:
    assert len(wire(request(HELLO, AssistantMessage((Thinking("Hm.", provider="anthropic"),))))["messages"]) == 2


def test_the_next_request_repeats_the_last_one_byte_for_byte() -> None:
    kept = encode_messages(ENDPOINT, MemoryBlobs())
    history = (HELLO, AssistantMessage((call("a", path="x"),)), ToolResult("a", (Text("text"),)))
    longer = (*history, AssistantMessage((Text("So."),)), UserMessage((Text("Go on"),)))
    first, second = (b"".join(to_wire(request(*some), ENDPOINT, kept)) for some in (history, longer))
    assert second.startswith(first.removesuffix(b"]}"))


def test_a_history_that_goes_on_differently_is_encoded_as_it_is_now() -> None:
    kept = encode_messages(ENDPOINT, MemoryBlobs())
    begin = (HELLO, AssistantMessage((Text("One."),)), UserMessage((Text("Go on"),)))
    for history in ((*begin, AssistantMessage((Text("Two."),))), (*begin[:2], UserMessage((Text("Stop"),))), begin[:1]):
        asked = request(*history)
        assert to_wire(asked, ENDPOINT, kept) == to_wire(asked, ENDPOINT, encode_messages(ENDPOINT, MemoryBlobs()))


STREAM = b"""data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5.6","choices":[{"index":0,\
"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"Let me see."},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Gr\xc3\xbc\xc3\x9fe, "},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"world"},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",\
"function":{"name":"read_file","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{\
"arguments":"{\\"path\\": \\"a"}}]},"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":".py\\"}"}}]},\
"finish_reason":null}]}

data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}

data: {"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":42,"total_tokens":142,\
"prompt_tokens_details":{"cached_tokens":90,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":12}}}

data: [DONE]

"""


def replayed(*chunks: bytes, provider: str = "openai", model: str = "gpt-5.6") -> list:
    return translated(FromWire(request(), endpoint(provider, model)), chunks)


def test_a_recorded_stream_becomes_our_events() -> None:
    events = replayed(STREAM)
    assert events[:-2] == [
        ThinkingDelta("Let me see."),
        TextDelta("Grüße, "),
        TextDelta("world"),
        ToolCallDelta("call_1", "read_file", '{"path": "a'),
        ToolCallDelta("call_1", "read_file", '.py"}'),
    ]
    assert message_of(events) == AssistantMessage(
        content=(
            Thinking("Let me see.", redacted='{"field":"reasoning_content"}', provider="openai"),
            Text("Grüße, world"),
            ToolCall("call_1", "read_file", {"path": "a.py"}),
        ),
        model="openai/gpt-5.6",
    )


def test_usage_counts_cached_tokens_once_and_has_its_price() -> None:
    reported = usage_of(replayed(STREAM))
    assert reported.usage == Usage(input=10, output=42, cache_read=90, reasoning=12)
    assert reported.cost == pytest.approx((10 * 2 + 42 * 10 + 90 * 0.2) / 1_000_000)
    assert reported.window == 1_050_000


def test_a_recorded_stream_may_be_cut_at_any_byte() -> None:
    whole = replayed(STREAM)
    for at in range(0, len(STREAM), 3):
        assert replayed(STREAM[:at], STREAM[at:]) == whole
    assert replayed(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == whole


def test_a_stream_that_ends_before_its_end_is_a_network_error() -> None:
    start = STREAM.index(b'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"')
    for end in (0, 300, start - 1, start):
        with pytest.raises(ModelError) as caught:
            replayed(STREAM[:end])
        assert caught.value.kind is ModelErrorKind.NETWORK


def chunk(delta: dict, stop: str | None = None, **fields: object) -> bytes:
    return b"data: %s\n\n" % msgspec.json.encode({"choices": [{"delta": delta, "finish_reason": stop}], **fields})


def test_a_stop_reason_is_end_enough() -> None:
    assert message_of(replayed(chunk({"content": "x"}, "stop"))).text == "x"


def test_a_server_without_usage_still_gets_one_report() -> None:
    reported = usage_of(replayed(chunk({"content": "x"}, "stop"), model="unknown"))
    assert reported.usage == Usage()
    assert (reported.cost, reported.window) == (None, None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, Usage(input=10, output=5)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, Usage(input=6, cache_read=4)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}},
            Usage(input=3, cache_read=4, cache_write=3),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 22,
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            Usage(input=10, output=12, reasoning=7),
        ),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(input=0, cache_read=4)),
    ],
)
def test_usage_is_normalised(usage: dict, expected: Usage) -> None:
    assert usage_of(replayed(chunk({"content": "x"}, "stop", usage=usage))).usage == expected


def test_repeated_usage_counts_once() -> None:
    chunks = [chunk({"content": "x"}, None, usage={"prompt_tokens": 10, "completion_tokens": n}) for n in (1, 2, 3)]
    assert usage_of(replayed(*chunks, chunk({}, "stop"))).usage == Usage(input=10, output=3)


def test_a_price_that_the_server_states_is_taken_when_we_know_none() -> None:
    usage = {"prompt_tokens": 10, "cost": 0.25}
    assert usage_of(replayed(chunk({"content": "x"}, "stop", usage=usage), provider="openrouter")).cost == 0.25


@pytest.mark.parametrize(
    ("own", "byok", "dollars"),
    [(False, False, 0.25), (True, False, 1.0), (False, True, 1.0)],
    ids=["the catalogue's prices", "a person's own prices", "a fee for the person's own key"],
)
def test_what_the_server_charged_goes_before_the_catalogue_but_not_before_a_persons_prices(
    own: bool, byok: bool, dollars: float
) -> None:
    known = ModelInfo(prices=Prices(1.0, 1.0))
    at = replace(endpoint("openrouter"), known=known, own_prices=own)
    usage = {"prompt_tokens": 1_000_000, "cost": 0.25, "is_byok": byok}
    assert usage_of(translated(FromWire(request(), at), [chunk({"content": "x"}, "stop", usage=usage)])).cost == dollars


@pytest.mark.parametrize(
    ("provider", "model", "fields"),
    [
        ("openrouter", "anthropic/claude-opus-5", {"cache_control": {"type": "ephemeral"}}),
        ("vercel", "anthropic/claude-opus-5", {"providerOptions": {"gateway": {"caching": "auto"}}}),
        ("requesty", "anthropic/claude-opus-5", {"requesty": {"auto_cache": True}}),
        ("openrouter", "openai/gpt-6-sol", {}),
        ("openai", "claude-opus-5", {}),
    ],
)
def test_a_gateway_is_told_to_cache_the_prompts_of_claude_models(provider: str, model: str, fields: dict) -> None:
    usual = {"model", "messages", "stream", "stream_options"}
    sent = body(request(), endpoint(provider, model))
    assert {name: value for name, value in sent.items() if name not in usual} == fields


def test_litellm_is_told_to_mark_the_instructions_and_the_newest_message() -> None:
    points = body(request(), endpoint("litellm", "claude"))["cache_control_injection_points"]
    assert points == [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]


@pytest.mark.parametrize(("field", "sent"), [("reasoning_content", "Let me see."), ("", None)])
def test_reasoning_goes_back_where_the_catalogue_says_that_the_model_wants_it(field: str, sent: str | None) -> None:
    at = replace(endpoint("chutes", "m"), known=ModelInfo(reasoning_field=field))
    said = AssistantMessage((Thinking("Let me see.", provider="chutes"), Text("Done.")))
    assert body(request(HELLO, said), at)["messages"][-1].get("reasoning_content") == sent


def test_a_local_server_costs_nothing() -> None:
    assert usage_of(replayed(chunk({"content": "x"}, "stop"), provider="ollama")).cost == 0.0


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("stop", StopReason.END_TURN),
        ("tool_calls", StopReason.END_TURN),
        ("function_call", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_length", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("content_filter: SAFETY", StopReason.REFUSAL),
        ("refusal", StopReason.REFUSAL),
        ("sensitive", StopReason.REFUSAL),
        ("something_new", StopReason.END_TURN),
    ],
)
def test_stop_reasons_are_translated(said: str, meant: StopReason) -> None:
    assert message_of(replayed(chunk({"content": "x"}, said))).stop_reason is meant


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("abort", ModelErrorKind.SERVER),
        ("error", ModelErrorKind.SERVER),
        ("network_error", ModelErrorKind.SERVER),
        ("insufficient_system_resource", ModelErrorKind.OVERLOADED),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", ModelErrorKind.MALFORMED),
    ],
)
def test_a_stop_reason_may_be_a_failure(said: str, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(chunk({"content": "x"}, said))
    assert caught.value.kind is kind


def test_the_servers_reason_for_a_refusal_is_kept() -> None:
    message = message_of(replayed(chunk({"content": "x"}, "content_filter: SAFETY")))
    assert message.refusal == "OpenAI refused to answer (content_filter: SAFETY)."
    assert message_of(replayed(chunk({"content": "x"}, "stop"))).refusal == ""


def test_a_refusal_in_words_is_a_refusal() -> None:
    message = message_of(replayed(chunk({"refusal": "I cannot."}, "stop")))
    assert (message.text, message.stop_reason, message.refusal) == ("I cannot.", StopReason.REFUSAL, "")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_of_compatible_servers_is_thinking(field: str) -> None:
    events = replayed(chunk({field: "Hm.", "content": ""}), chunk({"content": "Hi"}, "stop"), provider="groq")
    assert events[0] == ThinkingDelta("Hm.")
    kept = Thinking("Hm.", redacted=f'{{"field":"{field}"}}', provider="groq")
    assert message_of(events).content == (kept, Text("Hi"))


def test_content_may_come_in_typed_pieces() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    events = replayed(chunk({"content": [thinking, {"type": "text", "text": "Hi"}]}, "stop"), provider="mistral")
    assert events[:2] == [ThinkingDelta("Hm."), TextDelta("Hi")]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "No.", "type": "server_error", "code": None}, ModelErrorKind.SERVER),
        ({"message": "No.", "code": 429}, ModelErrorKind.RATE_LIMIT),
        ({"message": "No.", "code": "502"}, ModelErrorKind.SERVER),
        ({"message": "No.", "code": "insufficient_quota"}, ModelErrorKind.QUOTA),
        ({"message": "No.", "code": "context_length_exceeded"}, ModelErrorKind.CONTEXT_EXCEEDED),
        ("No.", ModelErrorKind.SERVER),
    ],
)
def test_an_error_in_the_stream_has_its_kind(error: object, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(chunk({"content": "x"}), b"data: %s\n\n" % msgspec.json.encode({"error": error}))
    assert caught.value.kind is kind
    assert "No." in caught.value.text


def test_a_reply_that_says_nothing_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        replayed(chunk({"reasoning": "Hm."}), chunk({}, "stop"), b"data: [DONE]\n\n")
    assert caught.value.kind is ModelErrorKind.EMPTY


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    broken = b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n'
    assert text_of(replayed(broken, chunk({}, "stop"))) == "a�b"
