"""Codex's rollouts: JSON lines below `~/.codex/sessions/YYYY/MM/DD/`, each with a `type` and a `payload`."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from halocline.protocol.messages import AssistantPart, Text, Thinking, ToolCall, Usage
from halocline.protocol.values import JsonObject
from halocline.store.importing.said import (
    Beat,
    Heard,
    Prompted,
    Spoke,
    Unread,
    lines,
    moment,
    number,
    objects,
    safe,
    safe_object,
    words,
)

NOT_TYPED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")


def read(source: Iterable[bytes]) -> Iterator[Beat]:
    """What a rollout says. A reply ends where the model has heard a result or a person."""
    reply, answered, model, total = 0, False, "", None
    for line in lines(source):
        if isinstance(line, Unread):
            yield line
            continue
        payload, at = line.get("payload"), moment(line.get("timestamp"))
        if not isinstance(payload, dict):
            continue
        if line.get("type") == "turn_context":
            model = str(payload.get("model") or model)
        elif line.get("type") == "event_msg" and (counted := _counted(payload)) and counted[0] != total:
            total = counted[0]
            yield Spoke(at, str(reply), (), model, counted[1])
        elif line.get("type") == "response_item":
            if part := _spoken(payload):
                reply, answered = reply + answered, False
                yield Spoke(at, str(reply), (part,), model)
            elif beat := _heard(payload, at):
                answered = True
                yield beat


def _spoken(item: JsonObject) -> AssistantPart | None:
    match item:
        case {"type": "message", "role": "assistant"}:
            text = safe(words(item.get("content")))
            return Text(text) if text.strip() else None
        case {"type": "reasoning"}:
            text = safe("\n".join(str(block.get("text") or "") for block in objects(item.get("summary"))))
            return Thinking(text) if text.strip() else None
        case {"type": "function_call", "call_id": str(call), "name": str(name)} if call and name:
            return ToolCall(id=call, name=name, arguments=_arguments(item.get("arguments")))
        case {"type": "custom_tool_call", "call_id": str(call), "name": str(name)} if call and name:
            return ToolCall(id=call, name=name, arguments={"input": safe(item.get("input"))})
    return None


def _heard(item: JsonObject, at: float) -> Beat | None:
    match item:
        case {"type": "message", "role": "user"}:
            text = safe(words(item.get("content"))).strip()
            return Prompted(at, text) if text and not text.startswith(NOT_TYPED) else None
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(call)}:
            return Heard(at, call, safe(_output(item.get("output"))))
    return None


def _output(output: Any) -> str:
    return words(output.get("content") if isinstance(output, dict) else output)


def _arguments(text: object) -> JsonObject:
    try:
        return safe_object(msgspec.json.decode(text)) if isinstance(text, str) else {}
    except (msgspec.DecodeError, RecursionError):
        return {"input": safe(text)}


def _counted(payload: JsonObject) -> tuple[object, Usage] | None:
    """The running total, by which a repeated count is known, and what the last request took."""
    match payload:
        case {"type": "token_count", "info": {"last_token_usage": dict(last)} as info}:
            cached = number(last, "cached_input_tokens")
            fresh = max(0, number(last, "input_tokens") - cached)
            usage = Usage(
                input=fresh,
                output=number(last, "output_tokens"),
                cache_read=cached,
                reasoning=number(last, "reasoning_output_tokens"),
            )
            return info.get("total_token_usage"), usage
    return None
