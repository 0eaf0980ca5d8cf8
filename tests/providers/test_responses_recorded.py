"""A stream in the form in which OpenAI documents it, with the fields that it really sends beside those we need."""

import pytest
from tests.providers.streams import endpoint, message_of, request, text_of, translated, usage_of

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from halocline.protocol.messages import AssistantMessage, StopReason, Text, Thinking, ToolCall, Usage
from halocline.providers.openai_responses.stream import FromWire

REASONING = (
    b'{"id":"rs_68","type":"reasoning","summary":[{"type":"summary_text","text":"Let me see."}],'
    b'"encrypted_content":"gAAAAABo=="}'
)
CALL = (
    b'{"id":"fc_68","type":"function_call","status":"completed","arguments":"{\\"path\\": \\"a.py\\"}",'
    b'"call_id":"call_1","name":"read_file"}'
)
MESSAGE = (
    b'{"id":"msg_68","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],'
    b'"logprobs":[],"text":"Gr\xc3\xbc\xc3\x9fe, world"}],"role":"assistant"}'
)
RESPONSE = (
    b'{"id":"resp_68","object":"response","created_at":1761000000,"status":"%s","background":false,"error":null,'
    b'"incomplete_details":%s,"instructions":"Be brief.","max_output_tokens":null,"model":"gpt-5.6","output":[%s],'
    b'"parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"detailed"},"store":false,'
    b'"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],"usage":%s,"metadata":{}}'
)
USAGE = (
    b'{"input_tokens":100,"input_tokens_details":{"cached_tokens":90},"output_tokens":42,'
    b'"output_tokens_details":{"reasoning_tokens":12},"total_tokens":142}'
)
EVENTS = (
    (b"response.created", b'"response":' + RESPONSE % (b"in_progress", b"null", b"", b"null")),
    (b"response.in_progress", b'"response":' + RESPONSE % (b"in_progress", b"null", b"", b"null")),
    (
        b"response.output_item.added",
        b'"output_index":0,"item":{"id":"rs_68","type":"reasoning","summary":[],"encrypted_content":"gAAA"}',
    ),
    (
        b"response.reasoning_summary_part.added",
        b'"item_id":"rs_68","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}',
    ),
    (
        b"response.reasoning_summary_text.delta",
        b'"item_id":"rs_68","output_index":0,"summary_index":0,"delta":"Let me see.","obfuscation":"x9"',
    ),
    (
        b"response.reasoning_summary_text.done",
        b'"item_id":"rs_68","output_index":0,"summary_index":0,"text":"Let me see."',
    ),
    (
        b"response.reasoning_summary_part.done",
        b'"item_id":"rs_68","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"Let me see."}',
    ),
    (b"response.output_item.done", b'"output_index":0,"item":' + REASONING),
    (
        b"response.output_item.added",
        b'"output_index":1,"item":{"id":"msg_68","type":"message","status":"in_progress","content":[],"role":"assistant"}',
    ),
    (
        b"response.content_part.added",
        (
            b'"item_id":"msg_68","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],'
            b'"logprobs":[],"text":""}'
        ),
    ),
    (
        b"response.output_text.delta",
        (
            b'"item_id":"msg_68","output_index":1,"content_index":0,"delta":"Gr\xc3\xbc\xc3\x9fe, ","logprobs":[],'
            b'"obfuscation":"9hT0mGz"'
        ),
    ),
    (
        b"response.output_text.delta",
        b'"item_id":"msg_68","output_index":1,"content_index":0,"delta":"world","logprobs":[],"obfuscation":"kx"',
    ),
    (
        b"response.output_text.done",
        b'"item_id":"msg_68","output_index":1,"content_index":0,"text":"Gr\xc3\xbc\xc3\x9fe, world","logprobs":[]',
    ),
    (
        b"response.content_part.done",
        (
            b'"item_id":"msg_68","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],'
            b'"logprobs":[],"text":"Gr\xc3\xbc\xc3\x9fe, world"}'
        ),
    ),
    (b"response.output_item.done", b'"output_index":1,"item":' + MESSAGE),
    (
        b"response.output_item.added",
        (
            b'"output_index":2,"item":{"id":"fc_68","type":"function_call","status":"in_progress","arguments":"",'
            b'"call_id":"call_1","name":"read_file"}'
        ),
    ),
    (
        b"response.function_call_arguments.delta",
        b'"item_id":"fc_68","output_index":2,"delta":"{\\"path\\": \\"a","obfuscation":"Q"',
    ),
    (b"response.function_call_arguments.delta", b'"item_id":"fc_68","output_index":2,"delta":".py\\"}"'),
    (
        b"response.function_call_arguments.done",
        b'"item_id":"fc_68","output_index":2,"arguments":"{\\"path\\": \\"a.py\\"}"',
    ),
    (b"response.output_item.done", b'"output_index":2,"item":' + CALL),
    (
        b"response.completed",
        b'"response":' + RESPONSE % (b"completed", b"null", b",".join((REASONING, MESSAGE, CALL)), USAGE),
    ),
)


def stream_of(events: tuple[tuple[bytes, bytes], ...]) -> bytes:
    frame = b'event: %s\ndata: {"type":"%s","sequence_number":%d,%s}\n\n'
    return b"".join(frame % (type, type, number, fields) for number, (type, fields) in enumerate(events))


STREAM = stream_of(EVENTS)


def replayed(*chunks: bytes) -> list:
    return translated(FromWire(request(), endpoint("openai", "gpt-5.6")), chunks)


def ended(status: bytes, details: bytes, *events: tuple[bytes, bytes]) -> list:
    last = b'"response":' + RESPONSE % (status, details, b"", USAGE)
    return replayed(stream_of((*events, (b"response." + status, last))))


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
            Thinking("Let me see.", redacted=REASONING.decode(), provider="openai"),
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


@pytest.mark.slow
def test_a_recorded_stream_may_be_cut_at_any_byte() -> None:
    whole = replayed(STREAM)
    for at in range(len(STREAM)):
        assert replayed(STREAM[:at], STREAM[at:]) == whole
    assert replayed(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == whole


def test_a_stream_that_ends_before_its_end_is_a_network_error() -> None:
    last = STREAM.index(b"event: response.completed")
    for end in (*range(0, last, 97), last, len(STREAM) - 2):
        with pytest.raises(ModelError) as caught:
            replayed(STREAM[:end])
        assert caught.value.kind is ModelErrorKind.NETWORK


def test_any_event_but_the_last_may_be_missing_and_all_is_there() -> None:
    whole = message_of(replayed(STREAM))
    for missing in range(len(EVENTS) - 1):
        events = replayed(stream_of((*EVENTS[:missing], *EVENTS[missing + 1 :])))
        message = message_of(events)
        assert text_of(events) == message.text
        if not EVENTS[missing][0].endswith(b"text.delta"):
            assert message == whole
        else:
            assert message.tool_calls == whole.tool_calls


def test_any_event_that_is_no_delta_may_be_repeated() -> None:
    whole = message_of(replayed(STREAM))
    for twice, (type, _) in enumerate(EVENTS):
        if not type.endswith(b".delta"):
            assert message_of(replayed(stream_of((*EVENTS[: twice + 1], *EVENTS[twice:])))) == whole


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        (b"max_output_tokens", StopReason.MAX_TOKENS),
        (b"content_filter", StopReason.REFUSAL),
        (b"something_new", StopReason.MAX_TOKENS),
    ],
)
def test_an_incomplete_reply_says_why(reason: bytes, meant: StopReason) -> None:
    events = ended(b"incomplete", b'{"reason":"%s"}' % reason, *EVENTS[8:12])
    assert (message_of(events).text, message_of(events).stop_reason) == ("Grüße, world", meant)
    assert usage_of(events).usage.output == 42


def test_a_refusal_in_words_is_a_refusal() -> None:
    place = b'"item_id":"msg_68","output_index":0,"content_index":0,'
    refusal = b'"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]'
    events = ended(
        b"completed",
        b"null",
        (b"response.refusal.delta", place + b'"delta":"I can"'),
        (b"response.refusal.delta", place + b'"delta":"not."'),
        (b"response.refusal.done", place + b'"refusal":"I cannot."'),
        (b"response.output_item.done", b'"output_index":0,"item":{"id":"msg_68",' + refusal + b"}"),
    )
    assert (message_of(events).text, message_of(events).stop_reason) == ("I cannot.", StopReason.REFUSAL)


def spoken(index: int, phase: bytes, text: bytes) -> list[tuple[bytes, bytes]]:
    at, item = b'"output_index":%d' % index, b'"item":{"id":"msg_%d","type":"message","role":"assistant"' % index
    said = b'"content":[{"type":"output_text","text":"%s"}]' % text
    return [
        (b"response.output_item.added", at + b"," + item + b',"content":[],"phase":%s}' % phase),
        (b"response.output_text.delta", at + b',"content_index":0,"delta":"%s"' % text),
        (b"response.output_item.done", at + b"," + item + b',"phase":%s,%s}' % (phase, said)),
    ]


def test_commentary_and_answer_are_parts_of_their_own_with_their_phases() -> None:
    said = (*spoken(0, b'"commentary"', b"Looking."), *spoken(1, b'"final_answer"', b"Done."))
    events = ended(b"completed", b"null", *said)
    assert events[:2] == [TextDelta("Looking."), TextDelta("Done.", apart=True)]
    assert message_of(events).content == (Text("Looking.", phase="commentary"), Text("Done.", phase="final_answer"))
    assert message_of(events).answer == "Done."


def test_a_phase_that_is_told_only_at_the_end_or_only_at_the_beginning_is_kept() -> None:
    plain, phased = spoken(0, b"null", b"Looking."), spoken(0, b'"commentary"', b"Looking.")
    for told in ((*phased[:2], plain[2]), (*plain[:2], phased[2]), phased[2:]):
        assert message_of(ended(b"completed", b"null", *told)).content == (Text("Looking.", phase="commentary"),)


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    delta = b'"output_index":0,"delta":"a\xffb"'
    assert text_of(ended(b"completed", b"null", (b"response.output_text.delta", delta))) == "a�b"
