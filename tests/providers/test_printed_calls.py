import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest
from tests.net.raw_server import STREAM_HEAD, read_request, serving
from tests.providers.markup import TOOLS, markup
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, text_of

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.leaked_calls import printed_call
from halocline.providers.text_tools.model import TextProtocol

READ = markup("read_file", path="a.py")
PRINTED = {
    "tags": READ,
    "tags in a fence": f"```xml\n{READ}\n```",
    "tags in a wrapper": f"<function_calls>\n{READ}\n</function_calls>\n",
    "an invocation": '<invoke name="read_file"><parameter name="path">a.py</parameter></invoke>\n</function_calls>',
    "a function": "<function=read_file><parameter=path>a.py</parameter></function>",
    "an object in a wrapper": '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
    "a list behind a marker": '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "special tokens": '<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n{"path": "a.py"}<｜tool▁calls▁end｜>',
    "Kimi's section": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
        '{"path": "a.py"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "Kimi's call": '<|tool_call_begin|>read_file:12<|tool_call_argument_begin|>{"path": "a.py"}<|tool_call_end|>',
    "GLM's arguments": ("<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call>"),
    "Harmony": '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "a.py"}<|call|>',
    "Harmony's header first": (
        '<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{"path": "a.py"}'
    ),
    "a bare object": '{"name": "read_file", "arguments": {"path": "a.py"}}',
    "a bare object over several lines": '{\n  "tool": "read_file",\n  "parameters": {\n    "path": "a.py"\n  }\n}',
    "a bare object in a fence": '```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```',
    "a function object": (
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}}'
    ),
    "a list of objects": '[{"name": "read_file", "arguments": {"path": "a.py"}}]',
}
TALKED_ABOUT = {
    "words": "I read a.py.",
    "words in brackets": "See <https://example.org>",
    "a mention": "Use `<read_file>`",
    "markup before the end": f"You write {READ} to read.",
    "another's markup": "<item><path>a.py</path></item>",
    "an opening alone": "<read_file>",
    "a list": "It holds [read_file]",
    "an object of another kind": '{"name": "read_file", "version": 1}',
    "an object with more": '{"name": "read_file", "arguments": {"path": "a.py"}, "tests": []}',
    "an object of another's": '{"name": "deploy", "arguments": {}}',
    "an object in a sentence": 'So it is {"name": "read_file", "arguments": {}}',
    "an object that is cut": '{"name": "read_file", "arguments": {"path": "}',
    "a mark in words": "The channel is <|channel|>commentary",
}


def answering(data: bytes) -> AbstractAsyncContextManager[str]:
    """A server that answers every request with this stream."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
        await writer.drain()

    return serving(answer)


@pytest.mark.parametrize("text", PRINTED.values(), ids=PRINTED)
async def test_a_printed_call_is_a_malformed_one_and_its_text_stays(text: str) -> None:
    text = f"I look.\n{text}"
    events = await collected(Correcting(Scripted([Turn(text=text)])), request(tools=TOOLS))
    message = message_of(events)
    (call,) = message.tool_calls
    assert (call.name, call.arguments, message.text, text_of(events)) == ("read_file", {}, text, text)
    assert "printed as text" in call.malformed
    assert "a.py" in call.malformed


@pytest.mark.parametrize("text", TALKED_ABOUT.values(), ids=TALKED_ABOUT)
async def test_markup_that_is_only_talked_about_is_left_alone(text: str) -> None:
    message = message_of(await collected(Correcting(Scripted([Turn(text=text)])), request(tools=TOOLS)))
    assert message.tool_calls == ()


@pytest.mark.parametrize("wrap", [Correcting, lambda model: Correcting(TextProtocol(model))], ids=["calls", "text"])
@pytest.mark.parametrize("behind", ["", "\n", " Then I wait for the result."])
@pytest.mark.parametrize("text", PRINTED.values(), ids=PRINTED)
async def test_a_call_inside_the_thoughts_of_a_reply_that_says_nothing_is_told_to_the_model(
    text: str, behind: str, wrap: Any
) -> None:
    thoughts = f"I will read it.\n{text}{behind}"
    payload = {"choices": [{"delta": {"reasoning_content": thoughts}, "finish_reason": "stop"}]}
    async with answering(b"data: %s\n\n" % msgspec.json.encode(payload)) as url:
        model = wrap(OpenAIChat(endpoint("llamacpp", base_url=url), MemoryBlobs()))
        message = message_of(await collected(model, request(tools=TOOLS)))
        await model.close()
    (call,) = message.tool_calls
    assert (call.name, call.arguments) == ("read_file", {})
    assert "stood in the reasoning" in call.malformed
    assert "a.py" in call.malformed


@pytest.mark.parametrize(
    "thoughts", ["Hm.", "x > 1, so I stop.", "A list [1] and `code`", READ.replace("read_", "fetch_")]
)
async def test_thoughts_without_a_call_are_an_empty_reply(thoughts: str) -> None:
    payload = {"choices": [{"delta": {"reasoning": thoughts}, "finish_reason": "stop"}]}
    async with answering(b"data: %s\n\n" % msgspec.json.encode(payload)) as url:
        model = Correcting(OpenAIChat(endpoint("llamacpp", base_url=url), MemoryBlobs()))
        with pytest.raises(ModelError) as caught:
            await collected(model, request(tools=TOOLS))
        await model.close()
    assert caught.value.kind is ModelErrorKind.EMPTY


async def test_a_call_in_thoughts_that_words_follow_is_only_thought_about() -> None:
    turn = Turn(thinking=READ, text="I read it.")
    assert message_of(await collected(Correcting(Scripted([turn])), request(tools=TOOLS))).tool_calls == ()


async def test_a_reply_with_a_real_call_is_left_alone() -> None:
    turn = Turn(text=READ, calls=(Call("list_files"),))
    message = message_of(await collected(Correcting(Scripted([turn])), request(tools=TOOLS)))
    assert [call.name for call in message.tool_calls] == ["list_files"]


def test_only_tools_that_were_offered_can_be_called() -> None:
    assert printed_call(READ, ()) is None


async def test_an_object_that_answers_a_schema_is_the_answer() -> None:
    text = '{"name": "read_file", "arguments": {"path": "a.py"}}'
    asked = request(tools=TOOLS, output_schema={"type": "object"})
    assert message_of(await collected(Correcting(Scripted([Turn(text=text)])), asked)).tool_calls == ()
