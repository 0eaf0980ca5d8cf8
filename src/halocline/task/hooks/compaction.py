"""Payload of hooks before a compaction: sizes, and copies of what the model reads now. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from halocline.ports.hooks import Shortening
from halocline.protocol.messages import AssistantMessage, Message, Note, Text, ToolResult, UserMessage
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.task.hooks.payloads import Facts

CONTEXT_JSON, CONTEXT_TEXT = "context.json", "context.txt"


def dump_conversation(messages: Sequence[Message]) -> dict[str, bytes]:
    """Write what the model reads now to two files: JSON in Anthropic's format, as Cline does, and text."""
    text = "\n\n".join(_message_as_text(message) for message in messages)
    return {
        CONTEXT_JSON: msgspec.json.encode([_in_json(message) for message in messages]),
        CONTEXT_TEXT: text.encode(errors="replace"),
    }


def _in_json(message: Message) -> JsonObject:
    parts: list[JsonObject] = [{"type": "text", "text": text} for text in _list_texts(message)]
    match message:
        case AssistantMessage():
            calls = message.tool_calls
            parts += ({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls)
            return {"role": "assistant", "content": parts}
        case ToolResult():
            result = {"type": "tool_result", "tool_use_id": message.call, "content": parts}
            return {"role": "user", "content": [{**result, "is_error": message.is_error}]}
        case _:
            return {"role": "user", "content": parts}


def _message_as_text(message: Message) -> str:
    """Format one message as text, with its role."""
    whose = {UserMessage: "user", AssistantMessage: "assistant", ToolResult: "tool"}[type(message)]
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    called = (f"[{call.name} {msgspec.json.encode(call.arguments).decode()}]" for call in calls)
    return "\n".join([f"{whose}:", *_list_texts(message), *called])


def _list_texts(message: Message) -> list[str]:
    return [part.text for part in message.content if isinstance(part, Text | Note)]


def of_compaction(what: Shortening, state: State, files: Mapping[str, str]) -> Facts:
    """Build the facts for hooks before a compaction. As in Cline, `contextSize` counts messages."""
    used, trigger = state.budget.last_usage, "manual" if what.asked else "auto"
    return Facts(
        event={
            "taskId": state.task,
            "ulid": state.task,
            "contextSize": len(what.messages),
            "contextTokens": what.tokens,
            "compactionStrategy": what.strategy,
            "previousApiReqIndex": state.budget.steps - 1,
            "tokensIn": used.input,
            "tokensOut": used.output,
            "tokensInCache": used.cache_write,
            "tokensOutCache": used.cache_read,
            "deletedRangeStart": what.first,
            "deletedRangeEnd": what.last,
            "contextJsonPath": files.get(CONTEXT_JSON, ""),
            "contextRawPath": files.get(CONTEXT_TEXT, ""),
        },
        more={"trigger": trigger, "custom_instructions": what.focus},
        subjects=(trigger,),
    )
