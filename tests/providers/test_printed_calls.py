import pytest
from tests.providers.markup import TOOLS, markup
from tests.providers.streams import collected, message_of, request, text_of

from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.leaked_calls import printed_call

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
}
TALKED_ABOUT = {
    "words": "I read a.py.",
    "words in brackets": "See <https://example.org>",
    "a mention": "Use `<read_file>`",
    "markup before the end": f"You write {READ} to read.",
    "another's markup": "<item><path>a.py</path></item>",
    "an opening alone": "<read_file>",
    "a list": "It holds [read_file]",
}


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


async def test_a_reply_with_a_real_call_is_left_alone() -> None:
    turn = Turn(text=READ, calls=(Call("list_files"),))
    message = message_of(await collected(Correcting(Scripted([turn])), request(tools=TOOLS)))
    assert [call.name for call in message.tool_calls] == ["list_files"]


def test_only_tools_that_were_offered_can_be_called() -> None:
    assert printed_call(READ, ()) is None
