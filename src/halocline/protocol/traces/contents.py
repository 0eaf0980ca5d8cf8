"""Messages as the conventions of OpenTelemetry write them: JSON in an attribute of a span."""

from collections.abc import Iterable

import msgspec

from halocline.protocol.messages import AssistantMessage, AssistantPart, Image, Note, Text, Thinking, ToolCall, UserPart
from halocline.protocol.traces.attributes import name_finish
from halocline.protocol.values import JsonObject


def encode_parts(role: str, content: Iterable[UserPart]) -> str:
    """Return a message of a person. Images are named by their hash."""
    return _encode(role, [_describe_part(part) for part in content])


def encode_reply(message: AssistantMessage) -> str:
    """Return a reply of a model."""
    parts = [_describe_part(part) for part in message.content]
    return _encode("assistant", parts, finish_reason=name_finish(message))


def _describe_part(part: UserPart | AssistantPart) -> JsonObject:
    match part:
        case Text() | Note():
            return {"type": "text", "content": part.words}
        case Thinking():
            return {"type": "reasoning", "content": part.text}
        case ToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.arguments}
        case Image():
            return {"type": "file", "mime_type": part.media_type, "modality": "image", "file_id": part.blob}


def _encode(role: str, parts: list[JsonObject], **more: str) -> str:
    return msgspec.json.encode([{"role": role, "parts": parts, **more}]).decode(errors="replace")
