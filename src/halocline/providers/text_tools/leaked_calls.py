"""Recognize tool calls that a model printed at the end of a reply instead of making them. Pure."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.events import AssistantMessageCompleted
from halocline.protocol.messages import ToolCall
from halocline.providers.reply import CallIds

_SAYS = "(this was printed as text, which calls no tool; make a real tool call instead) "
_LONGEST = 20_000
_LONGEST_CLOSERS = 200

_CLOSERS = re.compile(
    r"(?:\s|```|</?(?:function_calls?|tool_calls?|tool_use|antml:function_calls)>|</s>|<\|im_end\|>)*\Z"
)
_FORMS = (
    r"<({tools})>(?:(?!<\1>).)*</\1>",
    r"<(?:antml:)?invoke name=\"({tools})\">(?:(?!<(?:antml:)?invoke).)*</(?:antml:)?invoke>",
    r"<function=({tools})>(?:(?!<function=).)*</function>",
    r"<tool_call>\s*\{{\s*\"name\"\s*:\s*\"({tools})\"(?:(?!<tool_call>).)*\}}",
    r"\[TOOL_CALLS\]\s*\[?\s*(?:\{{\s*\"name\"\s*:\s*\")?({tools})\b.*[\]}}]",
    r"<[|｜]tool▁call▁begin[|｜]>(?:function<[|｜]tool▁sep[|｜]>)?({tools})\b.*<[|｜]tool▁calls?▁end[|｜]>",
)
"""XML tags, named invocations, Llama's functions, Hermes and Qwen, Mistral, DeepSeek."""


def with_printed_call(event: AssistantMessageCompleted, request: Request) -> AssistantMessageCompleted:
    """Add a malformed call to a message whose text ends with a printed one."""
    message = event.message
    printed = printed_call(message.text, request.tools)
    if printed is None:
        return event
    name, text = printed
    call = ToolCall(id=CallIds(request).claim(""), name=name, malformed=_SAYS + text)
    return replace(event, message=replace(message, content=(*message.content, call)))


def printed_call(text: str, tools: Sequence[ToolSpec]) -> tuple[str, str] | None:
    """Return tool and markup of the call that the text ends with, or None."""
    text = text[-_LONGEST:]
    closed = _CLOSERS.search(text, max(0, len(text) - _LONGEST_CLOSERS))
    text = text[: closed.start()] if closed else text
    names = "|".join(re.escape(spec.name) for spec in tools) or "(?!)"
    for form in _FORMS:
        found = re.search(f"(?:{form.format(tools=names)})\\Z", text, re.DOTALL)
        if found:
            return found.group(1), found.group()
    return None
