import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.providers.streams import HELLO, MemoryBlobs, endpoint, message_of, request, text_of, translated, usage_of
from tests.tables import for_each

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
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
from halocline.providers.gemini.request import encode_messages, model_address, to_wire
from halocline.providers.gemini.stream import FromWire

ENDPOINT = endpoint("gemini", "gemini-3.8-flash")


def wire(asked: Request, model: str = "gemini-3.8-flash", **blobs: bytes) -> dict:
    place = endpoint("gemini", model)
    return msgspec.json.decode(b"".join(to_wire(asked, place, encode_messages(place, MemoryBlobs(**blobs)))))


def contents(asked: Request, model: str = "gemini-3.8-flash", **blobs: bytes) -> list[dict]:
    return wire(asked, model, **blobs)["contents"]


def call(id: str, name: str = "read_file", **arguments: object) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


def said(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(content=parts)


def mark(signature: str, provider: str = "gemini") -> Thinking:
    return Thinking(signature=signature, provider=provider)


def test_a_request_holds_system_tools_bounds_and_contents() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "default": "."}}}
    tools = (ToolSpec("list_files", "Lists.", schema), ToolSpec("wait", "Waits.", {"type": "object"}))
    accepted = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert wire(request(tools=tools, max_tokens=99)) == {
        "generationConfig": {"maxOutputTokens": 99, "thinkingConfig": {"includeThoughts": True}},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "list_files", "description": "Lists.", "parameters": accepted},
                    {"name": "wait", "description": "Waits."},
                ]
            }
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
    }


def test_a_request_may_be_nothing_but_its_contents() -> None:
    asked = Request(model="", system="", messages=(HELLO,))
    assert wire(asked, "gemma-4-31b-it") == {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("gemini-4-argon", True),
        ("gemini-2.5-pro", True),
        ("gemini-flash-latest", True),
        ("models/gemini-3.8-flash", True),
        ("gemini-2.0-flash", False),
        ("gemma-4-31b-it", False),
    ],
)
def test_thoughts_are_asked_for_where_a_model_has_any(model: str, thinks: bool) -> None:
    assert ("generationConfig" in wire(request(), model)) is thinks


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-3.8-flash", "/models/gemini-3.8-flash:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", "/tunedModels/mine:streamGenerateContent?alt=sse"),
        ("a b?c", "/models/a%20b%3Fc:streamGenerateContent?alt=sse"),
    ],
)
def test_the_model_is_named_in_the_address(model: str, path: str) -> None:
    assert model_address(model) == path


def test_results_follow_their_calls_in_one_content_and_in_their_order() -> None:
    failed = ToolResult("b", (Text("No such file."),), is_error=True)
    asked = request(
        HELLO,
        said(call("a", path="x"), call("b", "list_files")),
        failed,
        ToolResult("a", (Text("text"),)),
        UserMessage((Text("And now?"),)),
    )
    assert contents(asked, "gemini-2.5-pro")[1:] == [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "a", "name": "read_file", "args": {"path": "x"}}},
                {"functionCall": {"id": "b", "name": "list_files", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "read_file", "response": {"output": "text"}}},
                {"functionResponse": {"id": "b", "name": "list_files", "response": {"error": "No such file."}}},
            ],
        },
        {"role": "user", "parts": [{"text": "And now?"}]},
    ]


def test_a_result_without_its_call_is_left_out() -> None:
    assert contents(request(HELLO, ToolResult("gone", (Text("x"),)))) == contents(request(HELLO))


def test_pictures_of_results_come_after_all_results() -> None:
    asked = request(
        HELLO,
        said(call("a"), call("b")),
        ToolResult("a", (Text("Shown."), Image("image/png", "pixel"))),
        ToolResult("b", (Text("ok"),)),
    )
    parts = contents(asked, pixel=b"\x00\x01")[2]["parts"]
    assert ["functionResponse" in part for part in parts] == [True, True, False, False]
    assert "read_file, call a" in parts[2]["text"]
    assert parts[3] == {"inlineData": {"mimeType": "image/png", "data": "AAE="}}


def test_prompts_hold_words_notes_and_pictures_and_no_blank_text() -> None:
    parts = (Text("See"), Text(" "), Note("Noon.", "clock"), Image("image/png", "pixel"), Image("image/png", "gone"))
    assert contents(request(UserMessage(parts)), pixel=b"\x00\x01")[0]["parts"] == [
        {"text": "See"},
        {"text": "<clock>\nNoon.\n</clock>"},
        {"inlineData": {"mimeType": "image/png", "data": "AAE="}},
        {"text": "[Image missing: its file is gone.]"},
    ]


@pytest.mark.parametrize("nothing", [UserMessage((Text(""),)), said(Thinking("Hm.", provider="anthropic"))])
def test_messages_that_say_nothing_are_left_out(nothing: UserMessage | AssistantMessage) -> None:
    assert contents(request(HELLO, nothing)) == contents(request(HELLO))


def test_signatures_go_back_at_the_part_they_came_with() -> None:
    reply = said(
        Thinking("Hm.", provider="gemini"),
        Thinking("So.", signature="s0", provider="gemini"),
        Text("I look."),
        mark("s1"),
        Text("Now."),
        mark("s2"),
        call("a"),
        call("b"),
        Thinking(redacted="s3", provider="gemini"),
    )
    parts = contents(request(HELLO, reply))[1]["parts"]
    assert [(part.get("text"), part.get("thought"), part.get("thoughtSignature")) for part in parts] == [
        ("Hm.", True, None),
        ("So.", True, "s0"),
        ("I look.", None, None),
        ("Now.", None, "s1"),
        (None, None, "s2"),
        (None, None, None),
        ("", None, "s3"),
    ]


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("gemini-3.8-flash", "skip_thought_signature_validator"),
        ("gemini-4-argon", "skip_thought_signature_validator"),
        ("gemini-2.5-pro", None),
        ("gemma-4-31b-it", None),
    ],
)
def test_thinking_of_others_stays_away_and_their_calls_are_said_to_be_unsigned(model: str, signature: str) -> None:
    reply = said(Thinking("Hm.", signature="s", provider="anthropic"), mark("t", "anthropic"), call("a"), call("b"))
    parts = contents(request(HELLO, reply), model)[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [signature, None]


def test_the_next_request_repeats_the_last_one_byte_for_byte() -> None:
    kept = encode_messages(ENDPOINT, MemoryBlobs())
    history = (HELLO, said(call("a", path="x")), ToolResult("a", (Text("text"),)))
    longer = (*history, UserMessage((Text("Wait"),)), said(Text("So.")), UserMessage((Text("Go on"),)))
    first, second = (b"".join(to_wire(request(*some), ENDPOINT, kept)) for some in (history, longer))
    assert second.startswith(first.removesuffix(b"]}"))


def test_a_message_is_encoded_once() -> None:
    blobs = MemoryBlobs(pixel=b"1")
    kept = encode_messages(ENDPOINT, blobs)
    asked = request(UserMessage((Image("image/png", "pixel"),)))
    first = to_wire(asked, ENDPOINT, kept)
    blobs.blobs.clear()
    assert to_wire(asked, ENDPOINT, kept) == first


# Written by hand after the API's reference and published examples; the line ends are those of Google's servers.
STREAM = b"""data: {"candidates": [{"content": {"parts": [{"text": "**Looking**\\n\\nLet me ","thought": true}],\
"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 107,"totalTokenCount": 150,\
"cachedContentTokenCount": 90,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 107}],\
"thoughtsTokenCount": 43},"modelVersion": "gemini-3.8-flash","responseId": "Il0taoSYJ5Cez7IP"}\r
\r
data: {"candidates": [{"content": {"parts": [{"text": "see.","thought": true}],"role": "model"},"index": 0}]}\r
\r
data: {"candidates": [{"content": {"parts": [{"text": "Gr\xc3\xbc\xc3\x9fe, "}],"role": "model"},"index": 0}]}\r
\r
data: {"candidates": [{"content": {"parts": [{"text": "world"}],"role": "model"},"index": 0}]}\r
\r
data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read_file","args": {"path": "a.py"}},\
"thoughtSignature": "EjQKMgEM"},{"functionCall": {"name": "list_files","args": {}}}],"role": "model"},"index": 0}],\
"usageMetadata": {"promptTokenCount": 107,"candidatesTokenCount": 12,"totalTokenCount": 162}}\r
\r
data: {"candidates": [{"content": {"parts": [{"text": "","thoughtSignature": "CiQB"}],"role": "model"},\
"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 107,"candidatesTokenCount": 30,\
"totalTokenCount": 180,"cachedContentTokenCount": 90,"thoughtsTokenCount": 43},\
"modelVersion": "gemini-3.8-flash","responseId": "Il0taoSYJ5Cez7IP"}\r
\r
"""


def replayed(*chunks: bytes) -> list:
    return translated(FromWire(request(), ENDPOINT), chunks)


def without_ids(events: list) -> list:
    """The events with made-up ids numbered, so that they can be compared."""
    made = [call.id for call in message_of(events).tool_calls]
    text = repr(events)
    for number, id in enumerate(made):
        text = text.replace(id, f"call-{number}")
    return [text]


def test_a_recorded_stream_becomes_our_events() -> None:
    events = replayed(STREAM)
    message = message_of(events)
    first, second = message.tool_calls
    assert events[:-2] == [
        ThinkingDelta("**Looking**\n\nLet me "),
        ThinkingDelta("see."),
        TextDelta("Grüße, "),
        TextDelta("world"),
        ToolCallDelta(first.id, "read_file", '{"path": "a.py"}'),
        ToolCallDelta(second.id, "list_files", "{}"),
    ]
    assert first.id != second.id
    assert message == AssistantMessage(
        content=(
            Thinking("**Looking**\n\nLet me see.", provider="gemini"),
            Text("Grüße, world"),
            mark("EjQKMgEM"),
            ToolCall(first.id, "read_file", {"path": "a.py"}),
            ToolCall(second.id, "list_files"),
            Thinking(redacted="CiQB", provider="gemini"),
        ),
        model="gemini/gemini-3.8-flash",
    )


def test_a_recorded_stream_goes_back_as_it_came() -> None:
    reply = message_of(replayed(STREAM))
    ids = [call.id for call in reply.tool_calls]
    assert contents(request(HELLO, reply))[1]["parts"] == [
        {"text": "**Looking**\n\nLet me see.", "thought": True},
        {"text": "Grüße, world"},
        {
            "functionCall": {"id": ids[0], "name": "read_file", "args": {"path": "a.py"}},
            "thoughtSignature": "EjQKMgEM",
        },
        {"functionCall": {"id": ids[1], "name": "list_files", "args": {}}},
        {"text": "", "thoughtSignature": "CiQB"},
    ]


def test_usage_counts_the_newest_numbers_and_has_its_price() -> None:
    reported = usage_of(replayed(STREAM))
    assert reported.usage == Usage(input=17, output=73, cache_read=90, reasoning=43)
    assert reported.cost == pytest.approx((17 * 1.5 + 73 * 7.5 + 90 * 0.15) / 1_000_000)
    assert reported.window == 1_048_576


def test_a_recorded_stream_may_be_cut_at_any_byte() -> None:
    whole = without_ids(replayed(STREAM))
    for at in range(len(STREAM)):
        assert without_ids(replayed(STREAM[:at], STREAM[at:])) == whole
    assert without_ids(replayed(*(STREAM[at : at + 1] for at in range(len(STREAM))))) == whole


def test_a_stream_that_ends_before_its_end_is_a_network_error() -> None:
    start = STREAM.rindex(b"data: ")
    for end in (0, 300, start, len(STREAM) - 3):
        with pytest.raises(ModelError) as caught:
            replayed(STREAM[:end])
        assert caught.value.kind is ModelErrorKind.NETWORK


def chunk(*parts: object, stop: str | None = None, why: str | None = None, **fields: object) -> bytes:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": stop, "finishMessage": why}
    return b"data: %s\n\n" % msgspec.json.encode({"candidates": [candidate], **fields})


@for_each(
    "said, meant",
    [
        ("STOP", StopReason.END_TURN),
        ("MAX_TOKENS", StopReason.MAX_TOKENS),
        ("CONTINUATION", StopReason.MAX_TOKENS),
        ("SAFETY", StopReason.REFUSAL),
        ("RECITATION", StopReason.REFUSAL),
        ("PROHIBITED_CONTENT", StopReason.REFUSAL),
        ("BLOCKLIST", StopReason.REFUSAL),
        ("SPII", StopReason.REFUSAL),
        ("LANGUAGE", StopReason.REFUSAL),
        ("ESCALATION", StopReason.REFUSAL),
        ("MODEL_ARMOR", StopReason.REFUSAL),
        ("IMAGE_SAFETY", StopReason.REFUSAL),
        ("IMAGE_PROHIBITED_CONTENT", StopReason.REFUSAL),
        ("IMAGE_RECITATION", StopReason.REFUSAL),
        ("FINISH_REASON_UNSPECIFIED", StopReason.END_TURN),
        ("SOMETHING_NEW", StopReason.END_TURN),
    ],
)
def test_stop_reasons_are_translated(said: str, meant: StopReason) -> None:
    assert message_of(replayed(chunk({"text": "x"}, stop=said))).stop_reason is meant


def test_a_prompt_that_is_blocked_is_a_refusal_without_words() -> None:
    blocked = b'data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}\n\n'
    events = replayed(blocked)
    assert (message_of(events).stop_reason, message_of(events).content) == (StopReason.REFUSAL, ())
    assert message_of(events).refusal == "Google Gemini refused to answer (the prompt was blocked: SAFETY)."
    assert usage_of(events).usage == Usage(input=7)


@pytest.mark.parametrize(
    ("why", "name", "malformed"),
    [
        ("Malformed function call: call:default_api:edit{path: a", "edit", "{path: a"),
        ("Malformed function call: call:default_api:list_files{}", "list_files", "{}"),
        ("Malformed function call: print(default_api.edit(path='a'", "edit", "(path='a'"),
        ("Malformed function call: call:default_api:report", "report", None),
        ("Malformed function call", "unnamed", None),
    ],
)
def test_a_call_that_the_server_could_not_read_is_told_to_the_model_and_never_run(
    why: str, name: str, malformed: str | None
) -> None:
    message = message_of(replayed(chunk({"text": "I edit."}), chunk(stop="MALFORMED_FUNCTION_CALL", why=why)))
    (bad,) = message.tool_calls
    assert (message.text, bad.name, bad.arguments, bad.malformed) == ("I edit.", name, {}, malformed or why)


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        ("MALFORMED_FUNCTION_CALL", ModelErrorKind.MALFORMED),
        ("UNEXPECTED_TOOL_CALL", ModelErrorKind.MALFORMED),
        ("MALFORMED_RESPONSE", ModelErrorKind.MALFORMED),
        ("OTHER", ModelErrorKind.SERVER),
        ("IMAGE_OTHER", ModelErrorKind.SERVER),
        ("NO_IMAGE", ModelErrorKind.SERVER),
        ("TOO_MANY_TOOL_CALLS", ModelErrorKind.SERVER),
        ("MISSING_THOUGHT_SIGNATURE", ModelErrorKind.INVALID_REQUEST),
        ("PUP_LIMITED_DISABLED", ModelErrorKind.AUTH),
    ],
)
def test_a_stop_reason_may_be_a_failure(stop: str, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError, match=stop) as caught:
        replayed(chunk({"text": "x"}, stop=stop))
    assert caught.value.kind is kind


def test_a_bad_call_beside_good_ones_leaves_them_as_they_are() -> None:
    good = {"functionCall": {"name": "read_file", "args": {"path": "a"}}}
    (call,) = message_of(replayed(chunk(good, stop="UNEXPECTED_TOOL_CALL", why="No such tool."))).tool_calls
    assert (call.name, call.arguments) == ("read_file", {"path": "a"})


@pytest.mark.parametrize(
    ("args", "arguments", "malformed"),
    [({"a": 1}, {"a": 1}, ""), ({}, {}, ""), (None, {}, ""), ([1], {}, "[1]"), ("x", {}, '"x"')],
)
def test_arguments_that_are_no_object_are_malformed(args: object, arguments: dict, malformed: str) -> None:
    (call,) = message_of(
        replayed(chunk({"functionCall": {"name": "t", "id": "x", "args": args}}, stop="STOP"))
    ).tool_calls
    assert call == ToolCall("x", "t", arguments, malformed)


def test_ids_of_the_server_are_kept_unless_they_are_taken() -> None:
    two = [{"functionCall": {"name": "t", "id": "x"}}] * 2
    first, second = message_of(replayed(chunk(*two, stop="STOP"))).tool_calls
    assert first.id == "x"
    assert second.id not in ("", "x")


def test_signed_text_is_not_joined_with_other_text() -> None:
    events = replayed(
        chunk({"text": "a"}), chunk({"text": "b", "thoughtSignature": "s"}), chunk({"text": "c"}, stop="STOP")
    )
    assert message_of(events).content == (Text("a"), mark("s"), Text("b"), Text("c"))
    assert text_of(events) == "abc"


SIGNATURES = st.sampled_from([{}, {}, {"thoughtSignature": "s"}, {"thoughtSignature": "t"}])
WORDS = st.text("ab ", min_size=1, max_size=3)
CALLED = st.builds(
    lambda args: {"functionCall": {"name": "t", "args": args}}, st.dictionaries(WORDS, WORDS, max_size=1)
)
SENT = st.builds(lambda part, signature: part | signature, st.builds(dict, text=WORDS) | CALLED, SIGNATURES)
THOUGHT = st.builds(lambda text, signature: {"text": text, "thought": True, **signature}, WORDS, SIGNATURES)
ALONE = st.just({"text": "", "thoughtSignature": "u"})


def merged(parts: list[dict]) -> list[dict]:
    """The parts with neighbouring texts of one kind joined, as far as they are not signed."""
    whole: list[dict] = []
    for part in parts:
        joins = whole and "text" in part and {**part, "text": ""} == {**whole[-1], "text": ""}
        if joins and "thoughtSignature" not in part:
            whole[-1] = {**whole[-1], "text": whole[-1]["text"] + part["text"]}
        else:
            whole.append(part)
    return whole


@given(st.lists(SENT | THOUGHT | ALONE, max_size=8), st.integers(1, 3))
def test_whatever_the_server_said_and_signed_goes_back_as_it_came(parts: list[dict], size: int) -> None:
    parts = [*parts, {"text": "End."}]
    chunks = [chunk(*parts[at : at + size]) for at in range(0, len(parts), size)]
    reply = message_of(replayed(*chunks, chunk(stop="STOP")))
    sent = contents(request(HELLO, reply), "gemini-2.5-pro")[1]["parts"]
    for part in sent:
        part.get("functionCall", {}).pop("id", None)
    assert sent == merged(parts)


def test_parts_of_other_kinds_are_passed_over() -> None:
    odd = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert message_of(replayed(chunk(odd, {"text": "x"}, stop="STOP"))).content == (Text("x"),)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 503, "message": "No.", "status": "UNAVAILABLE"}, ModelErrorKind.OVERLOADED),
        ({"message": "No.", "status": "RESOURCE_EXHAUSTED"}, ModelErrorKind.RATE_LIMIT),
        ({"code": 500, "message": "No.", "status": "INTERNAL"}, ModelErrorKind.SERVER),
        ({"message": "No.", "status": "PERMISSION_DENIED"}, ModelErrorKind.AUTH),
        ("No.", ModelErrorKind.SERVER),
    ],
)
def test_an_error_in_the_stream_has_its_kind(error: object, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(chunk({"text": "x"}), b"data: %s\n\n" % msgspec.json.encode({"error": error}))
    assert caught.value.kind is kind
    assert "No." in caught.value.text


@pytest.mark.parametrize("part", [{"text": ""}, {"text": " "}, {"text": "Hm", "thought": True}])
def test_a_reply_that_says_nothing_is_an_error(part: object) -> None:
    with pytest.raises(ModelError) as caught:
        replayed(chunk(part, stop="STOP"))
    assert caught.value.kind is ModelErrorKind.EMPTY


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    broken = (
        b'data: {"candidates":[{"content":{"parts":[{"text":"a\xffb"},{"functionCall":{"name":"t","args":{"x":"\xff"}}}'
    )
    events = replayed(broken + b']},"finishReason":"STOP"}]}\n\n')
    assert text_of(events) == "a�b"
    assert message_of(events).tool_calls[0].arguments == {"x": "�"}
