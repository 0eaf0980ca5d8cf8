"""Recognize tool calls that a model printed at the end of a reply instead of making them. Pure."""

import re
from collections.abc import Sequence, Set
from itertools import islice

import msgspec
from msgspec.structs import replace

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import json_input
from halocline.protocol.events import AssistantMessageCompleted
from halocline.protocol.messages import Thinking, ToolCall
from halocline.protocol.values import JsonObject
from halocline.providers.reply import CALL_ENDINGS, CallIds

_SAYS = "(this was printed as text, which calls no tool; make a real tool call instead) "
_SWALLOWED = "(this stood in the reasoning, where no call is seen; end the reasoning, then make a real tool call) "
_LONGEST = 20_000
_LONGEST_CLOSERS = 200

_CLOSERS = re.compile(
    r"(?:\s|```|</?(?:function_calls?|tool_calls?|tool_use|antml:function_calls)>|</s>|"
    r"<\|(?:im_end|call|end|tool_call_end|tool_calls_section_end)\|>)*\Z"
)
_FORMS = (
    r"<({tools})>(?:(?!<\1>).)*</\1>",
    r"<(?:antml:)?invoke name=\"({tools})\">(?:(?!<(?:antml:)?invoke).)*</(?:antml:)?invoke>",
    r"<function=({tools})>(?:(?!<function=).)*</function>",
    r"<tool_call>\s*\{{\s*\"name\"\s*:\s*\"({tools})\"(?:(?!<tool_call>).)*\}}",
    r"\[TOOL_CALLS\]\s*\[?\s*(?:\{{\s*\"name\"\s*:\s*\")?({tools})\b.*[\]}}]",
    r"<tool_call>\s*({tools})\s*<arg_key>(?:(?!<tool_call>).)*</arg_value>",
    r"<\|tool_call_begin\|>\s*(?:functions\.)?({tools})(?::\d+)?\s*<\|tool_call_argument_begin\|>.*\}}",
    r"<\|(?:start|channel)\|>(?:(?!<\|(?:start|end|return)\|>).)*\bto=functions\.({tools})\b.*<\|message\|>.*\}}",
    r"<[|｜]tool▁call▁begin[|｜]>(?:function<[|｜]tool▁sep[|｜]>)?({tools})\b.*<[|｜]tool▁calls?▁end[|｜]>",
)
"""XML tags, named invocations, Llama's functions, Hermes and Qwen, Mistral, GLM, Kimi, Harmony (gpt-oss), DeepSeek."""
_JSON_LINE = re.compile(r"^[{\[]", re.MULTILINE)
_MOST_STARTS = 50
_NAMES, _ARGUMENTS = ("name", "tool", "tool_name", "function"), ("arguments", "parameters", "args", "input")


def with_printed_call(event: AssistantMessageCompleted, request: Request) -> AssistantMessageCompleted:
    """Add a malformed call to a message whose text ends with a printed one."""
    message = event.message
    printed = printed_call(message.text, request.tools, bare=request.output_schema is None)
    if printed is None:
        return event
    name, text = printed
    return _with_call(event, request, name, _SAYS + text)


def with_swallowed_call(event: AssistantMessageCompleted, request: Request) -> AssistantMessageCompleted | None:
    """Add a malformed call to a message of thoughts alone, for the last one printed in them; None without one."""
    thoughts = "".join(part.text for part in event.message.content if isinstance(part, Thinking))
    end = max(thoughts.rfind(mark) for mark in CALL_ENDINGS) + 1
    printed = printed_call(thoughts[:end], request.tools)
    return printed and _with_call(event, request, printed[0], _SWALLOWED + printed[1])


def _with_call(event: AssistantMessageCompleted, request: Request, name: str, said: str) -> AssistantMessageCompleted:
    call = ToolCall(id=CallIds(request).claim(""), name=name, malformed=said)
    return replace(event, message=replace(event.message, content=(*event.message.content, call)))


def printed_call(text: str, tools: Sequence[ToolSpec], *, bare: bool = True) -> tuple[str, str] | None:
    """Return tool and markup of the call that the text ends with, or None. `bare`: it may be a JSON object alone."""
    text = text[-_LONGEST:]
    closed = _CLOSERS.search(text, max(0, len(text) - _LONGEST_CLOSERS))
    text = text[: closed.start()] if closed else text
    names = "|".join(re.escape(spec.name) for spec in tools) or "(?!)"
    for form in _FORMS:
        found = re.search(f"(?:{form.format(tools=names)})\\Z", text, re.DOTALL)
        if found:
            return found.group(1), found.group()
    return _bare_call(text, {spec.name for spec in tools}) if bare and text.endswith(("}", "]")) else None


def _bare_call(text: str, tools: Set[str]) -> tuple[str, str] | None:
    """Return tool and text of the JSON object, or list of objects, that ends the text and says nothing but a call."""
    for start in islice(_JSON_LINE.finditer(text), _MOST_STARTS):
        try:
            found = json_input.decode(text[start.start() :])
        except msgspec.DecodeError:
            continue
        first = found[0] if isinstance(found, list) and found else found
        name = _called_name(first) if isinstance(first, dict) else ""
        return (name, text[start.start() :]) if name in tools else None
    return None


def _called_name(document: JsonObject) -> str:
    """Return the tool that an object calls; empty when it is not a call, or more than one."""
    fields = {name: value for name, value in document.items() if name not in ("type", "id")}
    inner = fields.get("function")
    if len(fields) == 1 and isinstance(inner, dict):
        return _called_name(inner)
    names = [value for name, value in fields.items() if name in _NAMES]
    arguments = [value for name, value in fields.items() if name in _ARGUMENTS]
    is_call = len(fields) == 2 and len(names) == len(arguments) == 1 and isinstance(arguments[0], dict | str)
    return names[0] if is_call and isinstance(names[0], str) else ""
