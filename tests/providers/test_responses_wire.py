import msgspec
import pytest
from tests.providers.streams import (
    HELLO,
    MemoryBlobs,
    call,
    collected,
    endpoint,
    message_of,
    request,
    text_of,
    translated,
    usage_of,
)
from tests.servers.model_server import Call, ModelServer, Turn
from tests.tables import for_each

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.openai_responses.request import OpenAIResponses, encode_messages, to_wire
from halocline.providers.openai_responses.stream import FromWire

ENDPOINT = endpoint("openai", "gpt-5.6")
RAW = '{"type":"reasoning", "id":"rs_1","encrypted_content":"c2Vj","summary":[],"x":1.50}'


def wire(asked: Request, provider: str = "openai", **blobs: bytes) -> dict:
    place = endpoint(provider, "gpt-5.6")
    return msgspec.json.decode(b"".join(to_wire(asked, place, encode_messages(provider, MemoryBlobs(**blobs)))))


def test_a_request_holds_model_instructions_tools_and_input_and_is_not_stored() -> None:
    tool = ToolSpec("read_file", "Reads.", {"type": "object"})
    function = {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}}
    assert wire(request(tools=(tool,), max_tokens=99)) == {
        "model": "gpt-5.6",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 99,
        "instructions": "Be brief.",
        "tools": [{"type": "function", **function, "strict": False}],
        "input": [{"type": "message", "role": "user", "content": "Hello"}],
    }


def test_a_bound_below_what_the_api_allows_is_raised_to_it() -> None:
    assert wire(request(max_tokens=1))["max_output_tokens"] == 16


def test_calls_and_their_results_are_items_paired_by_id() -> None:
    reply = AssistantMessage((Text("Reading."), call("a", path="x"), call("b")))
    failed = ToolResult("b", (Text("No such file."),), is_error=True)
    assert wire(request(HELLO, reply, ToolResult("a", (Text("text"),)), failed))["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "Reading."},
        {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": '{"path":"x"}'},
        {"type": "function_call", "call_id": "b", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "text"},
        {"type": "function_call_output", "call_id": "b", "output": "Error: No such file."},
    ]


def test_an_id_that_is_too_long_is_shortened_the_same_way_in_call_and_result() -> None:
    long = "x" * 65
    sent = wire(request(HELLO, AssistantMessage((call(long), call("y" * 64))), ToolResult(long, ())))["input"]
    assert sent[1]["call_id"] == sent[3]["call_id"]
    assert [len(item["call_id"]) for item in sent[1:]] == [64, 64, 64]
    assert sent[2]["call_id"] == "y" * 64


def test_words_and_notes_are_sent_as_plain_text() -> None:
    asked = request(UserMessage((Text("Hello"), Note("It is noon.", "environment"))))
    assert wire(asked)["input"][0]["content"] == "Hello\n\n<environment>\nIt is noon.\n</environment>"


PICTURE = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAE="}


def test_pictures_are_sent_in_prompts_and_in_results() -> None:
    shown = Image("image/png", "pixel")
    prompt, result = UserMessage((Text("See"), shown)), ToolResult("a", (Text("Seen."), shown))
    sent = wire(request(prompt, AssistantMessage((call("a"),)), result), pixel=b"\x00\x01")["input"]
    assert sent[0]["content"] == [{"type": "input_text", "text": "See"}, PICTURE]
    assert sent[2]["output"] == [{"type": "input_text", "text": "Seen."}, PICTURE]


def test_a_picture_whose_file_is_gone_is_told_in_words() -> None:
    sent = wire(request(UserMessage((Image("image/png", "gone"),))))["input"][0]["content"]
    assert sent == [{"type": "input_text", "text": "[Image missing: its file is gone.]"}]


def bytes_of(asked: Request) -> bytes:
    return b"".join(to_wire(asked, ENDPOINT, encode_messages("openai", MemoryBlobs())))


def test_reasoning_goes_back_byte_for_byte_before_what_followed_it() -> None:
    thought = Thinking("Hm.", redacted=RAW, provider="openai")
    reply = AssistantMessage((thought, Text("So."), thought, call("a")))
    asked = request(HELLO, reply, ToolResult("a", ()))
    kinds = [item["type"] for item in msgspec.json.decode(bytes_of(asked))["input"]]
    assert kinds == ["message", "reasoning", "message", "reasoning", "function_call", "function_call_output"]
    assert bytes_of(asked).count(RAW.encode()) == 2


@pytest.mark.parametrize(
    "content",
    [
        (Thinking("Hm.", redacted=RAW, provider="anthropic"), Text("So.")),
        (Thinking("Hm.", provider="openai"), Text("So.")),
        (Text("So."), Thinking("Hm.", redacted=RAW, provider="openai")),
        (Text("So."), Text(" ")),
    ],
    ids=["foreign", "not to be sent back", "nothing followed", "blank"],
)
def test_what_the_server_could_not_read_is_left_out(content: tuple) -> None:
    sent = wire(request(HELLO, AssistantMessage(content)))["input"]
    assert sent[1:] == [{"type": "message", "role": "assistant", "content": "So."}]


def phased(model: str) -> AssistantMessage:
    return AssistantMessage((Text("Looking.", phase="commentary"), Text("Done.", phase="final_answer")), model=model)


def test_a_phase_goes_back_to_who_gave_it() -> None:
    assert wire(request(HELLO, phased("openai/gpt-5.6")))["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "Looking.", "phase": "commentary"},
        {"type": "message", "role": "assistant", "content": "Done.", "phase": "final_answer"},
    ]


@pytest.mark.parametrize("model", ["openai-responses/gpt-5.6", "anthropic/gpt-5.6", ""])
def test_a_phase_that_another_provider_gave_is_not_told(model: str) -> None:
    assert not any("phase" in item for item in wire(request(HELLO, phased(model)))["input"])


def test_a_reply_that_is_nothing_but_reasoning_is_left_out() -> None:
    alone = AssistantMessage((Thinking("Hm.", redacted=RAW, provider="openai"),))
    assert wire(request(HELLO, alone, HELLO))["input"] == [wire(request())["input"][0]] * 2


def test_the_next_request_repeats_the_last_one_byte_for_byte() -> None:
    kept = encode_messages("openai", MemoryBlobs())
    thought = Thinking(redacted=RAW, provider="openai")
    history = (HELLO, AssistantMessage((thought, call("a", path="x"))), ToolResult("a", (Text("text"),)))
    longer = (*history, AssistantMessage((Text("So."),)), UserMessage((Text("Go on"),)))
    first, second = (b"".join(to_wire(request(*some), ENDPOINT, kept)) for some in (history, longer))
    assert second.startswith(first.removesuffix(b"]}"))


async def test_reasoning_that_a_server_sent_is_what_it_gets_back() -> None:
    async with ModelServer([Turn(thinking="Hm.", calls=(Call("read_file", {}),)), Turn(text="Done.")]) as server:
        place = endpoint("openai-responses", base_url=server.url("openai"))
        model = OpenAIResponses(place, MemoryBlobs())
        reply = message_of(await collected(model))
        await collected(model, request(HELLO, reply, ToolResult(reply.tool_calls[0].id, (Text("x"),))))
        await model.close()
    thought = reply.content[0]
    assert isinstance(thought, Thinking)
    assert thought.text == "Hm."
    assert server.requests[1].body["input"][1] == msgspec.json.decode(thought.redacted)
    assert thought.redacted.encode() in server.requests[1].raw


DENIALS = {
    "include": "Encrypted content is not supported with this model.",
    "reasoning": "Your organization must be verified to generate reasoning summaries.",
}


@pytest.mark.parametrize("wish", DENIALS)
async def test_what_a_model_or_an_account_cannot_have_is_not_asked_for_again(wish: str) -> None:
    # A server that expects these words in vain repeats them as its reason to refuse.
    turns = [Turn(expect=DENIALS[wish]), Turn(text="One."), Turn(text="Two.")]
    async with ModelServer(turns) as server:
        model = OpenAIResponses(endpoint("openai-responses", base_url=server.url("openai")), MemoryBlobs())
        texts = [message_of(await collected(model)).text for _ in range(2)]
        await model.close()
    assert texts == ["One.", "Two."]
    assert [sorted(DENIALS.keys() & sent.body) for sent in server.requests] == [
        ["include", "reasoning"],
        *[sorted(DENIALS.keys() - {wish})] * 2,
    ]


UNREADABLE = [
    "The encrypted content gAAA could not be verified. Reason: it could not be decrypted or parsed.",
    "Reasoning input items can only be provided to a reasoning or computer use model.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
]


@pytest.mark.parametrize("refusal", UNREADABLE)
async def test_reasoning_that_a_server_cannot_read_does_not_stop_the_task(refusal: str) -> None:
    thought = Thinking("Hm.", redacted=RAW, provider="openai-responses")
    asked = request(HELLO, AssistantMessage((thought, Text("So."))), HELLO)
    async with ModelServer([Turn(expect=refusal), Turn(text="One.")]) as server:
        model = OpenAIResponses(endpoint("openai-responses", base_url=server.url("openai")), MemoryBlobs())
        assert message_of(await collected(model, asked)).text == "One."
        await model.close()
    kinds = [[item["type"] for item in sent.body["input"]] for sent in server.requests]
    assert kinds == [["message", "reasoning", "message", "message"], ["message"] * 3]


async def test_another_refusal_is_not_asked_again() -> None:
    async with ModelServer([Turn(expect="bread"), Turn(text="One.")]) as server:
        model = OpenAIResponses(endpoint("openai-responses", base_url=server.url("openai")), MemoryBlobs())
        with pytest.raises(ModelError) as caught:
            await collected(model)
        await model.close()
    assert (caught.value.kind, len(server.requests)) == (ModelErrorKind.INVALID_REQUEST, 1)


def answered(payloads: list[dict], model: str = "gpt-5.6") -> list:
    stream = b"".join(b"data: %s\n\n" % msgspec.json.encode(payload) for payload in payloads)
    return translated(FromWire(request(), endpoint("openai", model)), [stream])


def item(type: str, ending: str = "done", index: int | None = 0, **fields: object) -> dict:
    place = {} if index is None else {"output_index": index}
    return {"type": f"response.output_item.{ending}", **place, "item": {"type": type, **fields}}


def said(*texts: str) -> list[dict]:
    return [{"type": "output_text", "text": text} for text in texts]


def delta(stem: str, text: str, **place: object) -> dict:
    return {"type": f"response.{stem}.delta", "output_index": 0, "delta": text, **place}


def completed(*output: dict) -> dict:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


COMPLETED = completed()
A, B = ("read", {"a": 1}), ("edit", {"b": 2})
READ = {"call_id": "x", "name": "read", "arguments": '{"a":1}'}
EDIT = {"call_id": "y", "name": "edit", "arguments": '{"b":2}'}
BEGUN = {"call_id": "x", "name": "read", "arguments": ""}

WORDS = {
    "only deltas": [delta("output_text", "Hello "), delta("output_text", "you")],
    "only the whole passage": [{"type": "response.output_text.done", "output_index": 0, "text": "Hello you"}],
    "only the whole item": [item("message", content=said("Hello ", "you"))],
    "only the whole reply": [completed({"type": "message", "content": said("Hello you")})],
    "a delta missing at the end": [delta("output_text", "Hello"), item("message", content=said("Hello you"))],
    "a whole second passage missing": [delta("output_text", "Hello "), item("message", content=said("Hello ", "you"))],
    "one index for all passages": [
        *(delta("output_text", text) for text in ("Hello ", "you")),
        {"type": "response.output_text.done", "output_index": 0, "text": "you"},
        item("message", content=said("Hello ", "you")),
    ],
    "a repeated end": [delta("output_text", "Hello you"), *[item("message", content=said("Hello you"))] * 2],
    "a repeated beginning": [
        item("message", "added", id="m"),
        delta("output_text", "Hello "),
        item("message", "added", id="m"),
        delta("output_text", "you"),
    ],
    "other ids in every event": [
        item("message", "added", id="1"),
        delta("output_text", "Hello you", item_id="2"),
        item("message", id="3", content=said("Hello you")),
        completed({"type": "message", "id": "4", "content": said("Hello you")}),
    ],
    "no index": [
        item("message", "added", None, id="m"),
        {"type": "response.output_text.delta", "item_id": "m", "delta": "Hello you"},
        item("message", "done", None, id="m", content=said("Hello you")),
    ],
    "one index for two items": [
        item("message", id="m", content=said("Hello ")),
        item("message", "added", id="n"),
        item("message", id="n", content=said("you")),
    ],
    "unknown events and items": [
        {"type": "response.queued"},
        {"type": "keepalive", "sequence_number": 3},
        item("web_search_call", "added", 7, action={"type": "search"}),
        delta("output_text", "Hello you"),
        {"type": "response.audio.delta", "delta": {"odd": 1}, "text": 7},
        item("web_search_call", "done", 7, content="odd"),
    ],
    "an end that contradicts": [delta("output_text", "Hello you"), item("message", content=said("Something else"))],
}


@pytest.mark.parametrize("payloads", WORDS.values(), ids=WORDS.keys())
def test_text_is_heard_once_and_whole_however_it_is_told(payloads: list[dict]) -> None:
    events = answered([*payloads, COMPLETED])
    assert text_of(events) == message_of(events).text == "Hello you"


CALLS = {
    "whole items": [item("function_call", **READ), item("function_call", index=1, **EDIT)],
    "announced whole, and no ends": [
        item("function_call", "added", **READ),
        item("function_call", "added", 1, **EDIT),
    ],
    "deltas without an end": [
        item("function_call", "added", **BEGUN),
        delta("function_call_arguments", '{"a"'),
        delta("function_call_arguments", ":1}"),
        item("function_call", index=1, **EDIT),
    ],
    "told three times": [
        item("function_call", "added", **BEGUN),
        delta("function_call_arguments", '{"a":1}'),
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'},
        item("function_call", **READ),
        item("function_call", index=1, **EDIT),
        completed({"type": "function_call", "id": "f", **READ}),
    ],
    "a placeholder before the deltas": [
        item("function_call", "added", **{**READ, "arguments": "{}"}),
        delta("function_call_arguments", '{"a":1}'),
        item("function_call", index=1, **EDIT),
    ],
    "a lost delta": [
        item("function_call", "added", **BEGUN),
        delta("function_call_arguments", ":1}"),
        item("function_call", **READ),
        item("function_call", index=1, **EDIT),
    ],
    "interleaved": [
        item("function_call", "added", **BEGUN),
        item("function_call", "added", 1, **{**EDIT, "arguments": ""}),
        delta("function_call_arguments", '{"a":1}'),
        delta("function_call_arguments", '{"b":2}', output_index=1),
    ],
    "one index for all": [item("function_call", **READ), item("function_call", **EDIT)],
    "repeated": [
        *[item("function_call", "added", **READ)] * 2,
        *[item("function_call", **READ)] * 2,
        item("function_call", index=1, **EDIT),
    ],
    "one call id": [item("function_call", **READ), item("function_call", index=1, **{**EDIT, "call_id": "x"})],
    "arguments as an object": [
        item("function_call", **{**READ, "arguments": {"a": 1}}),
        item("function_call", index=1, **EDIT),
    ],
    "arguments before their item": [
        delta("function_call_arguments", '{"a":1}'),
        item("function_call", **READ),
        item("function_call", index=1, **EDIT),
    ],
}


@pytest.mark.parametrize("payloads", CALLS.values(), ids=CALLS.keys())
def test_calls_are_whole_and_made_once_however_they_are_told(payloads: list[dict]) -> None:
    calls = message_of(answered([*payloads, COMPLETED])).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [A, B]
    assert len({call.id for call in calls}) == 2
    assert calls[0].id == "x"


def test_a_call_that_the_limit_cut_is_malformed() -> None:
    incomplete = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    cut = [item("function_call", "added", **BEGUN), delta("function_call_arguments", '{"a"'), incomplete]
    assert message_of(answered(cut)).tool_calls == (ToolCall("x", "read", malformed='{"a"'),)
    (unbegun,) = message_of(answered([item("function_call", **BEGUN), incomplete])).tool_calls
    assert unbegun.malformed


def test_summaries_are_thoughts_with_a_blank_line_between_them() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.", "Three.")]
    payloads = [
        delta("reasoning_summary_text", "One.", summary_index=0),
        delta("reasoning_summary_text", "Tw", summary_index=1),
        delta("reasoning_summary_text", "o.", summary_index=1),
        item("reasoning", summary=summary, encrypted_content="c2Vj"),
        item("message", index=1, content=said("So.")),
    ]
    thought = message_of(answered([*payloads, COMPLETED])).content[0]
    assert isinstance(thought, Thinking)
    assert thought.text == "One.\n\nTwo.\n\nThree."
    assert msgspec.json.decode(thought.redacted)["encrypted_content"] == "c2Vj"


def test_reasoning_in_the_open_is_thinking_too() -> None:
    payloads = [
        delta("reasoning_text", "Hm."),
        item("reasoning", content=[{"type": "reasoning_text", "text": "Hm."}]),
        item("message", index=1, content=said("So.")),
    ]
    thought = message_of(answered([*payloads, COMPLETED])).content[0]
    assert isinstance(thought, Thinking)
    assert (thought.text, bool(thought.redacted)) == ("Hm.", True)


def test_reasoning_that_cannot_be_sent_back_is_not_kept_for_it() -> None:
    payloads = [item("reasoning", id="rs_1", summary=[]), item("message", index=1, content=said("So."))]
    assert message_of(answered([*payloads, COMPLETED])).content == (Text("So."),)


def test_reasoning_whose_end_is_missing_is_taken_from_the_whole_reply() -> None:
    whole = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "c2Vj"}
    payloads = [
        item("reasoning", "added", id="rs", summary=[]),
        delta("output_text", "So.", output_index=1),
        completed(whole),
    ]
    assert any(isinstance(part, Thinking) and part.redacted for part in message_of(answered(payloads)).content)


def test_a_server_without_usage_still_gets_one_report() -> None:
    reported = usage_of(answered([delta("output_text", "x"), COMPLETED], model="unknown"))
    assert (reported.usage.total, reported.cost, reported.window) == (0, None, None)


def test_a_server_may_end_with_a_mark_alone() -> None:
    stream = b"data: %s\n\ndata: [DONE]\n\n" % msgspec.json.encode(delta("output_text", "x"))
    assert message_of(translated(FromWire(request(), ENDPOINT), [stream])).text == "x"


ERRORS = [
    ({"code": "server_error", "message": "No."}, ModelErrorKind.SERVER),
    ({"code": "rate_limit_exceeded", "message": "No."}, ModelErrorKind.RATE_LIMIT),
    ({"code": "server_is_overloaded", "message": "No."}, ModelErrorKind.OVERLOADED),
    ({"code": "slow_down", "message": "No."}, ModelErrorKind.OVERLOADED),
    ({"code": "insufficient_quota", "message": "No."}, ModelErrorKind.QUOTA),
    ({"code": "context_length_exceeded", "message": "No."}, ModelErrorKind.CONTEXT_EXCEEDED),
    ({"code": "invalid_prompt", "message": "No."}, ModelErrorKind.INVALID_REQUEST),
    ({"code": "image_too_large", "message": "No."}, ModelErrorKind.PICTURE),
    ({"code": None, "message": "No."}, ModelErrorKind.SERVER),
]
SHAPES = {
    "failed": lambda error: {"type": "response.failed", "response": {"status": "failed", "error": error}},
    "completed, but failed": lambda error: {
        "type": "response.completed",
        "response": {"status": "failed", "error": error},
    },
    "error": lambda error: {"type": "error", "param": None, **error},
    "error, nested": lambda error: {"type": "error", "error": error},
    "error, bare": lambda error: {"error": error},
}


@for_each("shape", SHAPES)
@for_each("error, kind", ERRORS)
def test_an_error_in_the_stream_has_its_kind(shape: str, error: dict, kind: ModelErrorKind) -> None:
    with pytest.raises(ModelError) as caught:
        answered([delta("output_text", "x"), SHAPES[shape](error)])
    assert caught.value.kind is kind
    assert "No." in caught.value.text


def test_a_failure_without_a_reason_is_the_server_s() -> None:
    with pytest.raises(ModelError) as caught:
        answered([{"type": "response.failed"}])
    assert caught.value.kind is ModelErrorKind.SERVER


def test_a_reply_that_says_nothing_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        answered([item("reasoning", encrypted_content="c2Vj"), COMPLETED])
    assert caught.value.kind is ModelErrorKind.EMPTY
