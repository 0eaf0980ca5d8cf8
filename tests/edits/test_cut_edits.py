"""An edit that was cut off anywhere does nothing, or exactly those blocks that came whole before the cut."""

import json
from collections.abc import Callable, Iterator

import msgspec
import pytest
from tests.providers.markup import TOOLS, meant, read
from tests.providers.streams import endpoint, message_of, request, translated
from tests.tables import for_each

from halocline.edits.edit import Edit
from halocline.edits.formats import blocks, patch
from halocline.edits.formats.shell_patch import shell_patch
from halocline.edits.plan import all_or_none
from halocline.edits.text import EditError, TextFile
from halocline.protocol.errors import ModelError
from halocline.protocol.messages import ToolCall
from halocline.providers.anthropic.stream import FromWire as AnthropicFromWire
from halocline.providers.gemini.stream import FromWire as GeminiFromWire
from halocline.providers.openai_chat.stream import FromWire as OpenAIFromWire
from halocline.providers.openai_responses.stream import FromWire as ResponsesFromWire
from halocline.providers.text_tools.arguments import write_arguments

FILE = "".join(f"line {n}\n" for n in range(1, 21)) + "Title\n=====\n--- SEARCH\n===\n+++ REPLACE\nend\n"


def block(search: str, replace: str, start: str = "-" * 7, divider: str = "=" * 7, end: str = "+" * 7) -> str:
    return f"{start} SEARCH\n{search}\n{divider}\n{replace}\n{end} REPLACE\n"


TWO = ("line 3\nline 4", "line three\n  and more\nline four"), ("line 9", "")
SPELLINGS = {
    "dashes": [block(*one) for one in TWO],
    "conflict": [block(*one, "<" * 7, end=">" * 7) for one in TWO],
    "with >": [block(*one).replace("SEARCH\n", "SEARCH>\n").replace("REPLACE\n", "REPLACE>\n") for one in TWO],
    "three": [block(*one, "---", "===", "+++") for one in TWO],
    "nine": [block(*one, "-" * 9, "=" * 9, "+" * 9) for one in TWO],
    "miscounted": [block(*one, "-" * 7, "=" * 5, "+" * 6) for one in TWO],
    "in a fence": ["```\n" + block(*TWO[0]), block(*TWO[1]) + "```\n"],
    "windows": [block(*one).replace("\n", "\r\n") for one in TWO],
    "a fence as content": [block("line 3", "```python\nx = 1\n```"), block("line 9", "nine")],
    "a title as content": [block("Title\n=====", "Other\n====="), block("line 9", "nine")],
    "markers as content": [block("--- SEARCH\n===\n+++ REPLACE", "--- SEARCH\nx\n===\ny\n+++ REPLACE\nend2")],
    "markers put in": [block("line 3", "--- SEARCH\nx\n===\ny\n+++ REPLACE"), block("line 9", "nine")],
}


def outcome(edits: Callable[[], list[Edit]]) -> str:
    try:
        return all_or_none(TextFile(FILE), edits()).file.text
    except EditError:
        return FILE


def cuts(text: str) -> Iterator[str]:
    data = text.encode()
    yield from (data[:end].decode("utf-8", "ignore") for end in range(len(data) + 1))


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_blocks_that_are_cut_do_what_came_whole_or_nothing(spelled: list[str]):
    steps = {FILE}
    for count in range(1, len(spelled) + 1):
        steps.add(outcome(lambda count=count: blocks.parse_blocks("".join(spelled[:count]))))
    assert len(steps) == len(spelled) + 1
    assert {outcome(lambda cut=cut: blocks.parse_blocks(cut)) for cut in cuts("".join(spelled))} <= steps


PATCH = """\
*** Begin Patch
*** Update File: a.txt
@@ line 1
 line 2
-line 3
+line three
+  more é
@@
 line 8
-line 9
*** Add File: b.txt
+new
+```
*** Delete File: c.txt
*** Update File: d.txt
*** Move to: e.txt
@@
-x
+y
*** End Patch
"""
WRAPPED = {
    "bare": "{}",
    "fenced": "```\n{}```\n",
    "heredoc": "apply_patch <<'EOF'\n{}EOF\n",
    "double heredoc": 'apply_patch <<"PATCH"\n{}PATCH',
    "cat": "cat <<'EOF' | apply_patch\n{}EOF\n",
    "shell": "bash -lc \"apply_patch <<'EOF'\n{}EOF\n\"",
    "cd": "cd src && apply_patch <<'EOF'\n{}EOF\n",
    "argument": "apply_patch '{}'",
}


def sections(text: str) -> list[patch.Section] | None:
    try:
        return patch.parse_patch(text)
    except EditError:
        return None


@pytest.mark.parametrize("wrapped", WRAPPED.values(), ids=WRAPPED)
def test_a_patch_that_is_cut_does_nothing(wrapped: str):
    whole = wrapped.format(PATCH)
    expected = sections(PATCH)
    assert expected is not None
    for cut in cuts(whole):
        found = shell_patch(cut)
        texts = [cut] if found is None else [cut, found.text]
        for text in texts:
            assert sections(text) in (None, expected), text[-60:]


ARGUMENTS = {
    "replace_in_file": {"path": "a.txt", "diff": "".join(SPELLINGS["dashes"]) + "é\U0001f600"},
    "write_to_file": {"path": "a.txt", "content": 'first "quoted"\n</content>\n```\nlast é\n'},
    "apply_patch": {"input": PATCH},
    "execute_command": {"command": "rm -rf build && make\nécho", "requires_approval": False},
}


@pytest.mark.parametrize("tool", ["replace_in_file", "write_to_file", "execute_command"])
@pytest.mark.parametrize("says_cut", [True, False])
def test_a_call_in_tags_that_is_cut_is_not_run(tool: str, says_cut: bool):
    arguments = ARGUMENTS[tool]
    text = f"I do it.\n\n<{tool}>{write_arguments(arguments)}</{tool}>"
    whole = (tool, arguments_of(text))
    for cut in cuts(text):
        calls = [one for one in meant(read([cut], cut=says_cut)) if isinstance(one, tuple)]
        assert all(call in (whole, (tool, None)) for call in calls), (cut[-40:], calls)


def arguments_of(text: str) -> object:
    (call,) = (one for one in meant(read([text])) if isinstance(one, tuple))
    return call[1]


def anthropic(name: str, arguments: str, stop: str) -> list[dict]:
    block = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def chat(name: str, arguments: str, stop: str) -> list[dict]:
    call = {"index": 0, "id": "t1", "function": {"name": name, "arguments": arguments}}
    return [
        {"choices": [{"delta": {"tool_calls": [call]}}]},
        {"choices": [{"delta": {}, "finish_reason": stop}]},
    ]


def responses(name: str, arguments: str, stop: str) -> list[dict]:
    item = {"type": "function_call", "id": "f1", "call_id": "t1", "name": name, "arguments": ""}
    done = item | {"arguments": arguments}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f1", "delta": arguments},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": f"response.{stop}", "response": {"id": "r", "status": stop, "output": [done]}},
    ]


WIRES = {
    "anthropic, says cut": (AnthropicFromWire, anthropic, "max_tokens"),
    "anthropic, says whole": (AnthropicFromWire, anthropic, "tool_use"),
    "chat, says cut": (OpenAIFromWire, chat, "length"),
    "chat, says whole": (OpenAIFromWire, chat, "tool_calls"),
    "responses, says cut": (ResponsesFromWire, responses, "incomplete"),
    "responses, says whole": (ResponsesFromWire, responses, "completed"),
}


@for_each("tool", ARGUMENTS)
@for_each("wire, events, stop", WIRES.values())
def test_a_call_whose_json_is_cut_is_not_run(tool: str, wire: type, events: Callable, stop: str):
    whole = json.dumps(ARGUMENTS[tool], ensure_ascii=False)
    vendor = {AnthropicFromWire: "anthropic", OpenAIFromWire: "openai", ResponsesFromWire: "openai-responses"}[wire]
    for cut in cuts(whole):
        payloads = events(tool, cut, stop)
        stream = b"".join(b"data: %s\n\n" % msgspec.json.encode(one) for one in payloads)
        asked = request(tools=TOOLS)
        try:
            message = message_of(translated(wire(asked, endpoint(vendor)), [stream]))
        except ModelError:
            continue
        for call in message.tool_calls:
            assert is_unrun(call, cut, whole), call


def is_unrun(call: ToolCall, cut: str, whole: str) -> bool:
    """Whether it is malformed, the whole call, or has no arguments at all, which no tool here runs without."""
    return bool(call.malformed) or call.arguments == {} or (cut == whole and call.arguments == json.loads(whole))


def gemini(name: str, arguments: str, stop: str) -> list[dict]:
    parts = [{"text": "I do it."}, {"functionCall": {"name": name, "args": json.loads(arguments)}}]
    return [{"candidates": [{"content": {"parts": parts}, "finishReason": stop}], "usageMetadata": {}}]


STREAMS = {
    "anthropic": (AnthropicFromWire, anthropic, "tool_use"),
    "openai": (OpenAIFromWire, chat, "tool_calls"),
    "openai-responses": (ResponsesFromWire, responses, "completed"),
    "gemini": (GeminiFromWire, gemini, "STOP"),
}


@pytest.mark.parametrize("vendor", STREAMS)
@pytest.mark.parametrize("ascii", [True, False])
def test_a_stream_that_breaks_anywhere_gives_whole_calls_or_none(vendor: str, ascii: bool):
    wire, events, stop = STREAMS[vendor]
    arguments = ARGUMENTS["replace_in_file"]
    payloads = events("replace_in_file", json.dumps(arguments), stop)
    stream = "".join(f"data: {json.dumps(one, ensure_ascii=ascii)}\n\n" for one in payloads).encode()
    for end in range(len(stream)):
        try:
            message = message_of(translated(wire(request(tools=TOOLS), endpoint(vendor)), [stream[:end]]))
        except ModelError:
            continue
        assert all(call.malformed or call.arguments in ({}, arguments) for call in message.tool_calls), end
