import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.net.raw_server import STREAM_HEAD, read_request, serving
from tests.providers.markup import TOOLS, markup
from tests.providers.printed_forms import LEFT_OUT, PARSERS, PRINTED, READ
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, text_of
from tests.tables import for_each

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, UsageReported
from halocline.protocol.messages import (
    PRINTED as SHOWN,
    QUOTED,
    AssistantMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.catalog.models import ModelInfo, Prices
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.model import TextProtocol
from halocline.providers.text_tools.printed_calls import read_printed

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
    "Python that is no call": "Call it so:\n```python\ndef main():\n    x = read_file('a.py')\n```",
    "another's function": "main(path='a.py')",
    "a call that goes on": "read_file('a.py').splitlines()",
    "a list of names": '["read_file", "list_files"]',
    "a schema": '{"name": "read_file", "parameters": {"type": "object"}, "required": ["path"]}',
    "an example above words": (
        'Write\n```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```\nto read (a file).'
    ),
    "a mark in words": "The channel is <|channel|>commentary",
}


def answering(data: bytes) -> AbstractAsyncContextManager[str]:
    """A server that answers every request with this stream."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
        await writer.drain()

    return serving(answer)


BROKEN = {
    "an object that is cut": '{"name": "read_file", "arguments": {"path": "}',
    "a bracket too few": '```json\n{"name": "read_file", "arguments": {"path": "a.py"}\n```',
    "a bracket too many": '{"name": "read_file", "arguments": {"path": "a.py"}}}',
    "a broken object in a wrapper": '<tool_call>{"name": "read_file", "arguments": {path: "a.py"}}</tool_call>',
    "broken arguments": '[TOOL_CALLS]read_file{"path": a.py}',
    "text as arguments": '{"name": "read_file", "arguments": "{path"}',
    "tags that are not closed": "<read_file><path>a.py</read_file>",
}


async def reply_to(text: str, asked: Request | None = None, **fields: object) -> tuple[tuple[ToolCall, ...], str]:
    asked = asked or request(tools=TOOLS)
    turns = [Turn(text=text)] * (1 + sum(isinstance(one, AssistantMessage) for one in asked.messages))
    message = message_of(await collected(Correcting(Scripted(turns), **fields), asked))
    return message.tool_calls, message.text


@for_each("text", PRINTED.values())
async def test_a_printed_call_is_that_call_and_no_text(text: str) -> None:
    (call,), said = await reply_to(f"I look.\n{text}")
    assert (call.name, dict(call.arguments), call.malformed, said) == ("read_file", {"path": "a.py"}, "", "I look.")


def test_every_form_that_a_servers_parser_reads_is_read_or_left_out_by_name() -> None:
    forms = {form for parsers in PARSERS.values() for form in parsers.values()}
    assert forms <= PRINTED.keys() | LEFT_OUT.keys()
    assert LEFT_OUT.keys() <= forms


@for_each("text", PRINTED.values())
async def test_what_is_printed_word_for_word_in_a_result_is_a_quotation(text: str) -> None:
    lines = "\n".join(f"{number:>3} | {line}" for number, line in enumerate(text.splitlines(), start=1))
    told = request(UserMessage((Text("Go"),)), ToolResult("c", (Text(lines),)), tools=TOOLS)
    for reply in (f"It says\n{text}", f"It says\n```json\n{text}\n```" if text[0] in "{[" else text):
        (call,), said = await reply_to(reply, told)
        assert call.malformed.startswith(QUOTED)
        assert said == reply


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
async def test_a_printed_call_that_does_not_decode_is_a_malformed_one(text: str) -> None:
    (call,), _ = await reply_to(text)
    assert call.name == "read_file"
    assert call.malformed
    assert not call.malformed.startswith(QUOTED)


@for_each("text", TALKED_ABOUT.values())
async def test_markup_that_is_only_talked_about_is_left_alone(text: str) -> None:
    assert await reply_to(text) == ((), text)


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "<tool_call>\n{}\n</tool_call>"])
async def test_a_reply_that_is_only_a_call_of_a_tool_that_is_not_there_is_that_call_until_it_is_said_again(
    form: str,
) -> None:
    text = form.replace("{}", '{"name": "rename_file", "arguments": {"path": "a.py", "to": "b.py"}}')
    calls, said = await reply_to(text)
    assert [(call.name, call.arguments, said) for call in calls] == [
        ("rename_file", {"path": "a.py", "to": "b.py"}, "")
    ]
    again = (AssistantMessage(calls, "scripted/script"), ToolResult(calls[0].id, (Text("There is no such tool."),)))
    assert await reply_to(text, request(UserMessage((Text("Go"),)), *again, tools=TOOLS)) == ((), text)
    assert await reply_to(f"An example:\n{text}") == ((), f"An example:\n{text}")


async def test_what_a_model_makes_up_for_a_result_is_dropped() -> None:
    (call,), said = await reply_to(f"{PRINTED['ReAct']}\nObservation: it is empty\nThought: Done.")
    assert (call.arguments, said) == ({"path": "a.py"}, "")


async def test_a_call_without_arguments_is_no_quotation_of_its_tools_name() -> None:
    told = request(UserMessage((Text("Use list_files, or <read_file>."),)), tools=TOOLS)
    for text in ("<list_files></list_files>", "list_files()", '{"name": "list_files", "arguments": {}}'):
        (call,), _ = await reply_to(text, told)
        assert (call.name, call.arguments, call.malformed) == ("list_files", {}, ""), text


async def test_a_call_below_much_text_is_an_example() -> None:
    (call,), said = await reply_to("A long guide. " * 200 + f"\n{PRINTED['a bare object']}")
    assert call.malformed.startswith(SHOWN)
    assert said.startswith("A long guide.")


@pytest.mark.parametrize("before", ["You write ", "> ", "+ ", "# ", "notes.md:12: ", "| "])
async def test_a_call_behind_words_or_signs_of_its_line_is_an_example(before: str) -> None:
    (call,), said = await reply_to(f"So:\n{before}{READ}")
    assert call.malformed.startswith(SHOWN)
    assert said.startswith("So:")


CALLED = AssistantMessage((ToolCall("c1", "list_files", {"path": "src"}),), "scripted/script")
RESULT = ToolResult("c1", (Text("b.py"),))


@for_each("text", PRINTED.values())
async def test_of_a_model_that_makes_its_calls_a_printed_one_counts_once_it_is_repeated_alone(text: str) -> None:
    noted: list[bool] = []
    told = [UserMessage((Text("Go"),)), CALLED, RESULT]
    calls, _ = await reply_to(text, request(*told, tools=TOOLS), on_printed=lambda: noted.append(True))
    (call,) = calls
    assert (call.malformed.startswith(SHOWN), noted) == (True, [])
    told += [AssistantMessage(calls, "scripted/script"), ToolResult(call.id, (Text("Nothing was run."),))]
    (call,), _ = await reply_to(f"As I said:\n{text}", request(*told, tools=TOOLS))
    assert call.malformed.startswith(SHOWN)
    (call,), _ = await reply_to(text, request(*told, tools=TOOLS), on_printed=lambda: noted.append(True))
    assert (call.arguments, call.malformed, noted) == ({"path": "a.py"}, "", [True])


@pytest.mark.parametrize("expected", [{"prints": True}, {"is_in_text": lambda: True}])
async def test_of_a_model_that_prints_its_calls_each_counts_at_once(expected: dict[str, object]) -> None:
    told = request(UserMessage((Text("Go"),)), CALLED, RESULT, tools=TOOLS)
    (call,), _ = await reply_to(PRINTED["a bare object"], told, **expected)
    assert call.arguments == {"path": "a.py"}


async def test_a_call_that_another_model_made_says_nothing_about_this_one() -> None:
    told = request(UserMessage((Text("Go"),)), replace(CALLED, model="other/model"), RESULT, tools=TOOLS)
    (call,), _ = await reply_to(PRINTED["a bare object"], told)
    assert call.arguments == {"path": "a.py"}


async def test_a_quotation_is_no_habit() -> None:
    noted: list[bool] = []
    told = request(UserMessage((Text(READ),)), tools=TOOLS)
    model = Correcting(Scripted([Turn(text=READ), Turn(text=f"Well.\n{READ}")]), on_printed=lambda: noted.append(True))
    for _ in range(2):
        events = await collected(model, told)
        assert text_of(events) == message_of(events).text
    assert noted == []


@pytest.mark.parametrize(
    "wrap", [Correcting, lambda model: Correcting(TextProtocol(model)), lambda model: Correcting(model, prints=True)]
)
async def test_a_summary_is_text_whatever_it_shows(wrap: Any) -> None:
    text = f"I then called\n\n{READ}"
    payload = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    async with answering(b"data: %s\n\n" % msgspec.json.encode(payload)) as url:
        model = wrap(OpenAIChat(endpoint("llamacpp", base_url=url), MemoryBlobs()))
        message = message_of(await collected(model, request(tools=TOOLS, summary=True)))
        await model.close()
    assert (message.tool_calls, message.text) == ((), text)


async def test_a_call_in_thoughts_above_other_words_is_only_thought_about() -> None:
    for text in PRINTED.values():
        turn = Turn(thinking=f"It says\n{text}\nbut I will not.")
        payload = {"choices": [{"delta": {"reasoning_content": turn.thinking}, "finish_reason": "stop"}]}
        async with answering(b"data: %s\n\n" % msgspec.json.encode(payload)) as url:
            model = Correcting(OpenAIChat(endpoint("llamacpp", base_url=url), MemoryBlobs()))
            (call,) = message_of(await collected(model, request(tools=TOOLS))).tool_calls
            await model.close()
        assert call.malformed.startswith(SHOWN), text


@pytest.mark.parametrize("form", ["object", "tags"])
async def test_the_end_of_a_long_call_is_found_in_time(form: str) -> None:
    content = "".join(f"def f{n}(a):\n    return g(a[{n}], {{'x': (a)}})\n" for n in range(4_000))
    printed = (
        encode({"name": "execute_command", "arguments": {"command": content}})
        if form == "object"
        else markup("execute_command", command=content)
    )
    model = Correcting(Scripted([Turn(text=f"{printed}\nIt worked.", chunk=40)]), prints=True)
    message = message_of(await collected(model, request(tools=TOOLS)))
    assert [call.name for call in message.tool_calls] == ["execute_command"]
    assert message.tool_calls[0].arguments == {"command": content.strip() if form == "tags" else content}
    assert message.text == ""


async def test_calls_after_the_first_that_acts_are_dropped() -> None:
    acts = [
        {"name": "read_file", "arguments": {"path": "a"}},
        {"name": "execute_command", "arguments": {"command": "ls"}},
        {"name": "attempt_completion", "arguments": {"result": "Done."}},
    ]
    one_by_one = "\n".join(f"```json\n{encode(one)}\n```" for one in acts)
    for text in (encode(acts), one_by_one, "\n".join(f"<tool_call>{encode(one)}</tool_call>" for one in acts)):
        calls, _ = await reply_to(text)
        assert [call.name for call in calls] == ["read_file", "execute_command"], text


async def test_a_file_with_line_breaks_and_calls_in_it_is_one_value() -> None:
    content = 'if x:\n\tprint("read_file")\n' + PRINTED["an object in a wrapper"] + "\n"
    markups = (
        f"<function=write_to_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n{content}</parameter>\n</function>",
        (
            '<invoke name="write_to_file"><parameter name="path">a</parameter>'
            f'<parameter name="content">\n{content}</parameter></invoke>'
        ),
        f"<tool_call>write_to_file\n<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>content</arg_key><arg_value>{content}</arg_value></tool_call>",
        encode({"name": "write_to_file", "arguments": {"path": "a", "content": content}}),
        encode({"name": "write_to_file", "arguments": {"path": "a", "content": content}}).replace("\\n", "\n"),
        markup("write_to_file", path="a", content=content),
    )
    for text in markups:
        (call,), _ = await reply_to(text)
        assert call.arguments == {"path": "a", "content": content}, text


async def test_of_a_model_that_prints_its_calls_none_is_shown_and_the_first_that_acts_ends_the_reply() -> None:
    printed = PRINTED["a bare object"].replace("read_file", "execute_command").replace("path", "command")
    text = f"I look.\n```json\n{printed}\n```\nIt worked:\n```json\n{printed}\n```\n"
    noted: list[bool] = []
    model = Correcting(Scripted([Turn(text=text)]), prints=True, on_printed=lambda: noted.append(True))
    events = await collected(model, request(tools=TOOLS))
    message = message_of(events)
    assert ([call.name for call in message.tool_calls], message.text.strip()) == (["execute_command"], "I look.")
    assert text_of(events).strip() == "I look."
    assert "It worked" not in str(events)
    assert any(isinstance(event, UsageReported) and event.usage.input for event in events)
    assert noted == [True]


async def test_a_reply_with_a_price_is_read_to_its_end_and_counted_exactly() -> None:
    printed = PRINTED["a bare object"].replace("read_file", "execute_command").replace("path", "command")
    turn = Turn(text=f"{printed}\n{printed}")
    priced = ModelInfo(prices=Prices(1.0, 1.0))
    events = await collected(Correcting(Scripted([turn]), priced, prints=True), request(tools=TOOLS))
    assert [call.name for call in message_of(events).tool_calls] == ["execute_command"]


async def test_words_of_such_a_model_are_shown_whole() -> None:
    text = "A list:\n- one\n```python\nprint(1)\n```\nThat is all."
    events = await collected(Correcting(Scripted([Turn(text=text)]), prints=True), request(tools=TOOLS))
    assert (text_of(events), message_of(events).text) == (text, text)
    assert [event.text for event in events if isinstance(event, TextDelta)]


async def test_a_call_in_thoughts_alone_is_made() -> None:
    turn = Turn(thinking=f"I must look.\n{PRINTED['an object in a wrapper']}")
    (call,) = message_of(await collected(Correcting(Scripted([turn])), request(tools=TOOLS))).tool_calls
    assert (call.name, call.arguments) == ("read_file", {"path": "a.py"})


@for_each("wrap", [Correcting, lambda model: Correcting(TextProtocol(model))])
@for_each("behind", ["", "\n"])
@for_each("text", PRINTED.values())
async def test_a_call_inside_the_thoughts_of_a_reply_that_says_nothing_is_made(
    text: str, behind: str, wrap: Any
) -> None:
    thoughts = f"I will read it.\n{text}{behind}"
    payload = {"choices": [{"delta": {"reasoning_content": thoughts}, "finish_reason": "stop"}]}
    async with answering(b"data: %s\n\n" % msgspec.json.encode(payload)) as url:
        model = wrap(OpenAIChat(endpoint("llamacpp", base_url=url), MemoryBlobs()))
        message = message_of(await collected(model, request(tools=TOOLS)))
        await model.close()
    (call,) = message.tool_calls
    assert (call.name, call.arguments) == ("read_file", {"path": "a.py"})


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
    assert read_printed(READ, ()) is None


async def test_an_object_that_answers_a_schema_is_the_answer() -> None:
    text = '{"name": "read_file", "arguments": {"path": "a.py"}}'
    asked = request(tools=TOOLS, output_schema={"type": "object"})
    assert await reply_to(text, asked) == ((), text)


def encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


HOSTILE = {
    "braces": "read_file {" + "{" * 50_000 + "}",
    "blanks": "read_file\n" + " " * 50_000 + "}",
    "lines": "\n" * 50_000 + "read_file}",
    "markers": "[TOOL_CALLS]read_file" * 5_000 + "}",
    "quotes": '{"name": "read_file", "arguments": {"' + '\\"' * 20_000 + "}",
    "brackets": "read_file" + "(" * 20_000 + ")",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_that_is_hard_to_read_is_no_call_and_soon_read(text: str) -> None:
    found = read_printed(text, TOOLS)
    assert found is None or all(call.arguments is None for call in found.calls)


@for_each("size", [1, 3, 7])
@for_each("text", [*TALKED_ABOUT.values(), *PRINTED.values()])
async def test_what_is_shown_of_a_model_that_prints_its_calls_is_its_text_and_nothing_else(
    text: str, size: int
) -> None:
    turn = Turn(text=f"I look.\n{text}", chunk=size)
    events = await collected(Correcting(Scripted([turn]), prints=True), request(tools=TOOLS))
    assert text_of(events).strip() == message_of(events).text.strip()
