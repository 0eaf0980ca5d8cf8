from collections.abc import Sequence

import pytest
from tests.providers.markup import TOOLS, markup
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request, text_of
from tests.servers.model_server import ModelServer

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried, ThinkingDelta, ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.scripted.model import Call, Fault, Scripted, Turn
from halocline.providers.text_tools.model import TextProtocol
from halocline.providers.text_tools.prompt import TextPrompt
from halocline.providers.wrappers.retry import Retrying

LOOK = ToolCall("look", "read_file", {"path": "a.py", "start_line": 3})
WRITE = ToolCall("write", "write_to_file", {"path": "a", "content": "x\n"})
RESULT = ToolResult("look", (Text("3 | x"),))
FAILED = ToolResult("write", (Text("No space."),), is_error=True)


def asked(*messages: Message) -> Request:
    return request(*messages, tools=TOOLS)


async def reply_to(turn: Turn) -> AssistantMessage:
    return message_of(await collected(TextProtocol(Scripted([turn])), asked()))


def rewritten(*messages: Message) -> tuple[Message, ...]:
    return TextPrompt().of(asked(*messages)).messages


def texts(messages: Sequence[Message]) -> list[str]:
    return ["|".join(part.text for part in message.content if isinstance(part, Text)) for message in messages]


async def test_the_server_is_told_of_the_tools_in_words_alone_and_in_turn() -> None:
    async with ModelServer([Turn(text="Hi.")]) as server:
        inner = OpenAIChat(endpoint("openai", base_url=server.url("openai")), MemoryBlobs())
        await collected(TextProtocol(inner), asked(HELLO, AssistantMessage((LOOK, WRITE)), RESULT, FAILED, HELLO))
        await inner.close()
    body = server.requests[0].body
    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert not any("tool_calls" in message for message in body["messages"])


def test_the_system_prompt_describes_every_tool_and_parameter() -> None:
    system = TextPrompt().of(asked()).system
    assert system.startswith("Be brief.\n\n")
    for spec in TOOLS:
        assert spec.description in system
        for name, field in spec.schema["properties"].items():
            assert f"- {name} ({field['type']}, " in system
            assert field["description"] in system


async def test_what_stands_for_a_value_in_a_description_is_no_value_of_an_optional_parameter() -> None:
    for sign in ("…", "..."):
        text = f"<search_files><regex>double</regex><path>{sign}</path><context>\n{sign}\n</context></search_files>"
        (call,) = message_of(
            await collected(TextProtocol(Scripted([Turn(text=text)])), request(tools=TOOLS))
        ).tool_calls
        assert (call.arguments, call.malformed) == ({"regex": "double"}, "")


def test_without_tools_nothing_is_added() -> None:
    assert TextPrompt().of(request()).system == "Be brief."


def test_past_calls_and_results_are_words() -> None:
    call = AssistantMessage((Text("I look."), LOOK, WRITE))
    look, write = markup("read_file", **LOOK.arguments), markup("write_to_file", **WRITE.arguments)
    assert texts(rewritten(HELLO, call, RESULT, FAILED)) == [
        "Hello",
        f"I look.|\n\n{look}|\n\n{write}",
        "[Result of read_file]\n3 | x",
        "[Error from write_to_file]\nNo space.",
    ]


def test_a_malformed_call_is_repeated_as_it_was() -> None:
    call = AssistantMessage((ToolCall("look", "read_file", malformed="<path>a"),))
    assert texts(rewritten(HELLO, call))[1] == "<read_file><path>a</read_file>"


def test_pictures_of_results_stay() -> None:
    picture = Image("image/png", "sha256:0")
    shown = ToolResult("look", (Text("It shows:"), picture))
    (_, _, said) = rewritten(HELLO, AssistantMessage((LOOK,)), shown)
    assert said == UserMessage((Text("[Result of read_file]\nIt shows:"), picture))


def test_the_messages_of_a_request_are_the_same_objects_in_the_next() -> None:
    prompt, said = TextPrompt(), (HELLO, AssistantMessage((LOOK, WRITE)), RESULT, FAILED)
    one = prompt.of(asked(*said)).messages
    two = prompt.of(asked(*said, AssistantMessage((Text("So."),)), HELLO)).messages
    assert len(two) == len(one) + 2
    assert all(old is new for old, new in zip(one, two, strict=False))


async def test_reasoning_in_tags_becomes_reasoning() -> None:
    events = await collected(TextProtocol(Scripted([Turn(text="<thinking>Hm.</thinking>\n\nYes.")])), asked())
    assert message_of(events).content == (Thinking("Hm."), Text("Yes."))
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Hm."
    assert text_of(events) == "Yes."


async def test_a_reply_of_reasoning_alone_is_empty() -> None:
    with pytest.raises(ModelError) as caught:
        await reply_to(Turn(text="<thinking>Hm.</thinking>"))
    assert caught.value.kind is ModelErrorKind.EMPTY
    assert caught.value.retryable


async def test_several_calls_have_ids_of_their_own_that_their_previews_name() -> None:
    turn = Turn(text=markup("read_file", path="a") * 2 + markup("write_to_file", path="b", content="x"), chunk=5)
    events = await collected(TextProtocol(Scripted([turn])), asked())
    calls = message_of(events).tool_calls
    assert [call.name for call in calls] == ["read_file", "read_file", "write_to_file"]
    assert len({call.id for call in calls}) == 3
    previews = [(event.call, event.name) for event in events if isinstance(event, ToolCallDelta)]
    assert list(dict.fromkeys(previews)) == [(call.id, call.name) for call in calls]


@pytest.mark.parametrize("stop", [StopReason.MAX_TOKENS, StopReason.END_TURN])
async def test_a_call_without_its_end_is_malformed(stop: StopReason) -> None:
    message = await reply_to(Turn(text="So: <write_to_file><path>a</path><content>x", stop=stop))
    (call,) = message.tool_calls
    assert (call.arguments, call.malformed) == ({}, "<path>a</path><content>x")
    assert (message.text, message.stop_reason) == ("So:", stop)


async def test_a_call_that_was_cut_before_its_parameters_is_malformed() -> None:
    (call,) = (await reply_to(Turn(text="<list_files>", stop=StopReason.MAX_TOKENS))).tool_calls
    assert call.malformed


async def test_tools_that_were_not_offered_are_words() -> None:
    text = markup("read_file", path="a")
    model = TextProtocol(Scripted([Turn(text=text)]))
    assert message_of(await collected(model, request())).content == (Text(text),)


async def test_a_call_that_the_server_understood_by_itself_is_kept() -> None:
    message = await reply_to(Turn(thinking="Hm.", text="I look.", calls=(Call("read_file", {"path": "a"}),)))
    assert [type(part) for part in message.content] == [Thinking, Text, ToolCall]


async def test_a_retry_within_begins_the_reading_anew() -> None:
    turns = [
        Turn(text="<read_file><path>aaaaaaaaaaa</path>", fault=Fault.DISCONNECT),
        Turn(text=markup("list_files")),
    ]
    events = await collected(TextProtocol(Retrying(Scripted(turns), waits=(0.0,))), asked())
    assert sum(isinstance(event, StepRetried) for event in events) == 1
    assert [call.name for call in message_of(events).tool_calls] == ["list_files"]
