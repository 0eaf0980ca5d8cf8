from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.providers.streams import HELLO, endpoint, message_of, request, translated
from tests.tables import for_each

from halocline.protocol.events import ToolCallDelta
from halocline.protocol.messages import AssistantMessage, ToolCall, ToolResult
from halocline.providers.anthropic.stream import FromWire as AnthropicFromWire
from halocline.providers.openai_chat.stream import FromWire as OpenAIFromWire
from halocline.providers.reply import parse_arguments


def piece(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id, "function": {key: value for key, value in function.items() if value is not None}}


def events_of(*pieces: dict[str, Any], stop: str = "tool_calls", asked: Any = None) -> list[Any]:
    payloads = [{"choices": [{"delta": {"tool_calls": [one]}}]} for one in pieces]
    payloads.append({"choices": [{"delta": {}, "finish_reason": stop}]})
    stream = b"".join(b"data: %s\n\n" % msgspec.json.encode(payload) for payload in payloads)
    return translated(OpenAIFromWire(asked or request(), endpoint("openai")), [stream])


def calls_of(*pieces: dict[str, Any], stop: str = "tool_calls", asked: Any = None) -> list[tuple[str, dict[str, Any]]]:
    found = message_of(events_of(*pieces, stop=stop, asked=asked)).tool_calls
    assert len({call.id for call in found}) == len(found)
    assert all(call.id and not call.malformed for call in found)
    return [(call.name, call.arguments) for call in found]


A, B = ("read", {"a": 1}), ("edit", {"b": 2})


ARGUMENTS = {"read": '{"a":1}', "edit": '{"b":2}'}


def read(index: int | None = None, id: str | None = None) -> dict[str, Any]:
    return piece(index, id, "read", ARGUMENTS["read"])


def edit(index: int | None = None, id: str | None = None) -> dict[str, Any]:
    return piece(index, id, "edit", ARGUMENTS["edit"])


def rest(text: str, index: int | None = None, id: str | None = None) -> dict[str, Any]:
    return piece(index, id, arguments=text)


ODD_STREAMS = {
    "whole calls": [read(0, "x"), edit(1, "y")],
    "gaps, not from 0": [read(1, "x"), edit(7, "y")],
    "interleaved": [piece(0, "x", "read"), piece(1, "y", "edit"), rest('{"a":1}', 0), rest('{"b":2}', 1)],
    "late id": [piece(0, None, "read", '{"a"'), rest(":1}", 0, "x"), edit(1, "y")],
    "repeated id and name": [piece(0, "x", "read", '{"a"'), piece(0, "x", "read", ":1}"), edit(1, "y")],
    "name in pieces": [piece(0, "x", "re"), piece(0, None, "ad"), rest('{"a":1}', 0), edit(1, "y")],
    "duplicate ids": [read(0, "x"), edit(1, "x")],
    "no ids": [read(0), edit(1)],
    "one index for all": [read(0, "x"), edit(0, "y")],
    "one index, no ids": [read(0, ""), edit(0, "")],
    "no index": [read(None, "x"), edit(None, "y")],
    "no index, interleaved by id": [
        piece(None, "x", "read", '{"a"'),
        piece(None, "y", "edit", '{"b"'),
        rest(":1}", None, "x"),
        rest(":2}", None, "y"),
    ],
    "neither index nor id": [piece(None, None, "read", '{"a"'), rest(":1}"), edit()],
    "a second head at the first's index": [
        piece(0, "x", "read", ""),
        rest('{"a":1}', 0),
        piece(0, "y", "edit", ""),
        rest('{"b":2}', 1),
    ],
    "an index that counts pieces": [
        piece(0, "x", "read", '{"a"'),
        rest(":1}", 1),
        piece(2, "y", "edit", '{"b"'),
        rest(":2}", 3),
    ],
    "an index that counts pieces, each with its head": [
        piece(0, "x", "read", '{"a"'),
        piece(1, "x", "read", ":1}"),
        edit(2, "y"),
    ],
    "a known id at another index": [piece(0, "x", "read", '{"a"'), rest(":1}", 5, "x"), edit(1, "y")],
    "an index that appears late": [piece(None, "x", "read", '{"a"'), rest(":1}", 0), edit(1, "y")],
    "an index that is text": [piece("0", "x", "read", '{"a"'), rest(":1}", "0"), edit("1", "y")],  # type: ignore
    "an index that is no number": [piece("a", "x", "read", '{"a"'), rest(":1}", "a"), edit("b", "y")],  # type: ignore
    "ids that are numbers": [piece(0, 1, "read", '{"a"'), rest(":1}", 0, 1), edit(1, 2)],  # type: ignore
    "an id that changes with each piece": [piece(0, "x", "read", '{"a"'), rest(":1}", 0, "z"), edit(1, "y")],
    "an id that changes before the arguments": [piece(0, "x", "read"), rest('{"a":1}', 0, "z"), edit(1, "y")],
    "arguments before the name": [rest('{"a":1}', 0), piece(0, "x", "read"), edit(1, "y")],
    "empty pieces around": [piece(4), read(0, "x"), piece(0), piece(7, None, "", ""), edit(1, "y"), piece()],
    "the whole again": [piece(0, "x", "read", '{"a"'), rest(":1}", 0), rest('{"a":1}', 0), edit(1, "y")],
    "the whole again with its head": [read(0, "x"), read(0, "x"), edit(1, "y")],
    "the whole again and again": [read(0, "x"), rest('{"a":1} ', 0), rest('{"a": 1}', 0), edit(1, "y")],
    "the whole again in pieces": [read(0, "x"), rest('{"a"', 0), rest(":1}", 0), edit(1, "y")],
    "an empty object first": [piece(0, "x", "read", "{}"), rest('{"a":1}', 0), edit(1, "y")],
    "an empty object last": [read(0, "x"), rest("{}", 0), edit(1, "y")],
    "an empty object first, pieces then": [
        piece(0, "x", "read", {}),
        rest('{"a"', 0),
        rest(":1}", 0),
        piece(1, "y", "edit", "{}"),
        rest('{"b":2}', 1),
    ],
    "arguments as an object": [piece(0, "x", "read", {"a": 1}), piece(1, "y", "edit", {"b": 2})],
}


@for_each("pieces", ODD_STREAMS.values())
def test_odd_streams_assemble(pieces: list[dict[str, Any]]) -> None:
    assert calls_of(*pieces) == [A, B]


NAMES = {
    "a channel": "read<|channel|>commentary",
    "a channel and a form": "read<|channel|>commentary <|constrain|>json",
    "a mark alone": "read<|end|>",
    "a namespace": "functions.read",
    "Gemini's namespace": "default_api:read",
    "Gemini's namespace with a dot": "default_api.read",
    "two namespaces": "functions.default_api.read",
    "blanks": " read\n",
    "Kimi's counter": "functions.read:0",
    "all of it": " functions.read <|channel|>commentary ",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_marks_around_a_name_are_no_part_of_it(name: str) -> None:
    events = events_of(piece(0, "x", name, '{"a":1}'))
    (call,) = message_of(events).tool_calls
    assert (call.name, {event.name for event in events if isinstance(event, ToolCallDelta)}) == ("read", {"read"})


@pytest.mark.parametrize("name", ["<|channel|>commentary", "functions.", "  "])
def test_marks_alone_are_no_name(name: str) -> None:
    (call,) = message_of(events_of(piece(0, "x", name, '{"a":1}'))).tool_calls
    assert call.name == "unnamed"


@pytest.mark.parametrize("empty", ["", " ", "{}"])
def test_a_call_without_arguments_does_not_run_beside_one_without_a_name(empty: str) -> None:
    one, other = message_of(events_of(piece(0, "x", "list", empty), rest('{"a":1}', 1, "y"))).tool_calls
    assert (one.name, other.name, other.arguments) == ("list", "unnamed", {"a": 1})
    assert "without a name" in one.malformed


def test_different_objects_in_a_row_are_no_copies() -> None:
    (call,) = message_of(events_of(read(0, "x"), rest('{"a":2}', 0))).tool_calls
    assert call.malformed == '{"a":1}{"a":2}'


def test_a_long_row_of_objects_is_read_in_no_time_and_never_taken_apart() -> None:
    (call,) = message_of(events_of(piece(0, "x", "read", '{"a":1}' * 100_000))).tool_calls
    assert call.malformed


def test_arguments_that_begin_late_do_not_split_a_call() -> None:
    assert calls_of(piece(0, "x", "read", ""), piece(0, "x", "read", '{"a":'), piece(0, "x", "read", "1}")) == [A]


def test_no_arguments_at_all_are_an_empty_object() -> None:
    assert calls_of(piece(0, "x", "list"), piece(1, "y", "list", " ")) == [("list", {}), ("list", {})]


def test_previews_name_the_call_that_the_message_will_hold() -> None:
    events = events_of(piece(0, None, "read", '{"a"'), piece(0, "x", None, ":1}"))
    assert [event for event in events if isinstance(event, ToolCallDelta)] == [ToolCallDelta("x", "read", '{"a":1}')]


def test_an_id_that_an_earlier_reply_used_is_not_used_again() -> None:
    earlier = AssistantMessage((ToolCall("call_0", "read"),))
    events = events_of(piece(0, "call_0", "read", "{}"), asked=request(HELLO, earlier, ToolResult("call_0", ())))
    (call,) = message_of(events).tool_calls
    assert call.id not in ("", "call_0")
    assert all(event.call == call.id for event in events if isinstance(event, ToolCallDelta))


@pytest.mark.parametrize(
    "text",
    ['{"a": "1', '{"a": 1', "[1]", '"a"', "1", "null", "{'a': 1}", '{"a": 1}}', '{"a": NaN}', '```json\n{"a":1}\n```'],
)
def test_arguments_that_are_not_one_whole_object_are_kept_as_they_are_and_never_repaired(text: str) -> None:
    (call,) = message_of(events_of(piece(0, "x", "read", text))).tool_calls
    assert call == ToolCall("x", "read", malformed=text)


@pytest.mark.parametrize("text", ["", "  "])
def test_a_call_that_the_token_limit_cut_before_its_arguments_is_malformed(text: str) -> None:
    whole, cut = message_of(events_of(piece(0, "x", "list"), piece(1, "y", "list", text), stop="length")).tool_calls
    assert not whole.malformed
    assert cut.malformed


def test_anthropic_calls_may_come_interleaved_with_gaps_and_with_one_id() -> None:
    payloads: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": at, "content_block": {"type": "tool_use", "id": "x", "name": name}}
        for at, name in ((2, "read"), (5, "edit"))
    ]
    payloads += [
        {"type": "content_block_delta", "index": at, "delta": {"type": "input_json_delta", "partial_json": text}}
        for at, text in ((5, '{"b"'), (2, '{"a":1}'), (5, ":2}"))
    ]
    payloads.append({"type": "message_stop"})
    stream = b"".join(b"data: %s\n\n" % msgspec.json.encode(payload) for payload in payloads)
    found = message_of(translated(AnthropicFromWire(request(), endpoint()), [stream])).tool_calls
    assert [(call.name, call.arguments) for call in found] == [A, B]
    assert found[0].id == "x"
    assert found[1].id not in ("", "x")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.integers(1, 9))
def test_whole_arguments_survive_any_cutting(arguments: dict[str, Any], size: int) -> None:
    text = msgspec.json.encode(arguments).decode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert calls_of(piece(0, "x", "read"), *(piece(0, None, None, one) for one in pieces)) == [("read", arguments)]


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4), st.data())
def test_a_truncated_argument_is_never_executed(arguments: dict[str, Any], data: st.DataObject) -> None:
    text = msgspec.json.encode(arguments).decode()
    assert parse_arguments(text[: data.draw(st.integers(1, len(text) - 1))]) is None
