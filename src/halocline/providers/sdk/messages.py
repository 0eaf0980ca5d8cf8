"""Convert a request to the library's messages. Pure, except for reading images from blobs.

What must stay true: results directly follow their calls, and opaque data (signatures, ids) goes back exactly as it
came, with the part it came with, and only to the provider that made it.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from pydantic_ai import messages as lib
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from halocline.ports.blobs import Blobs
from halocline.ports.model import Request
from halocline.protocol import json_input, messages as msg
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers.accepted import fit_id, fit_name
from halocline.providers.json_cache import MISSING_PICTURE, encode_json

_IDS = compile_later(r"[a-zA-Z0-9_-]{1,64}"), 64
_OPAQUE = ("id", "signature", "provider_name", "provider_details")
"""The fields of a part that only its provider understands."""


def seal_part(part: lib.ModelResponsePart) -> str:
    """Encode a part's opaque fields as text for `Thinking.redacted`; empty when there are none."""
    fields = {name: value for name in _OPAQUE if (value := getattr(part, name, None))}
    if not fields or fields.keys() == {"provider_name"}:
        return ""
    return encode_json({"part": part.part_kind, **fields}).decode()


def request_parameters(request: Request) -> ModelRequestParameters:
    """Build the parameters: the system prompt, which never changes within a task, and the tools."""
    make = partial(ToolDefinition, strict=False)  # strict schemas allow no optional arguments
    tools = [
        make(name=one.name, description=one.description, parameters_json_schema=one.schema) for one in request.tools
    ]
    return ModelRequestParameters(
        function_tools=tools,
        instruction_parts=[lib.InstructionPart(request.system)] if request.system else None,
    )


def to_library(messages: Sequence[msg.Message], maker: str, blobs: Blobs) -> list[lib.ModelMessage]:
    """Convert the conversation. `maker` is the provider whose thinking is sent back."""
    names = {
        call.id: fit_name(call.name) for m in messages if isinstance(m, msg.AssistantMessage) for call in m.tool_calls
    }
    conversation: list[lib.ModelMessage] = []
    said = [
        m for m in messages if not isinstance(m, msg.AssistantMessage) or any(True for _ in _convert_reply(m, maker))
    ]
    for by_model, group in groupby(said, lambda message: isinstance(message, msg.AssistantMessage)):
        if by_model:
            reply = [part for m in group if isinstance(m, msg.AssistantMessage) for part in _convert_reply(m, maker)]
            conversation += [lib.ModelResponse(parts=reply)] if reply else []
        else:
            conversation += _convert_side([*group], names, blobs)
    return conversation


def _convert_side(side: Sequence[msg.Message], names: dict[str, str], blobs: Blobs) -> Iterator[lib.ModelRequest]:
    """Convert results, which every API requires directly after their calls, and then all prompts as one."""
    results = [_convert_result(m, names.get(m.call, ""), blobs) for m in side if isinstance(m, msg.ToolResult)]
    prompts = [part for m in side if isinstance(m, msg.UserMessage) for part in _convert_content(m.content, blobs)]
    parts: list[lib.ModelRequestPart] = [*results]
    if prompts:
        parts.append(lib.UserPromptPart(content=prompts))
    if parts:
        yield lib.ModelRequest(parts=parts)


def _convert_result(result: msg.ToolResult, name: str, blobs: Blobs) -> lib.ToolReturnPart:
    """Convert a result. Where an API cannot mark a failed call, the library says so in the text."""
    has_picture = any(isinstance(part, msg.Image) for part in result.content)
    content: Any = list(_convert_content(result.content, blobs)) if has_picture else result.text
    return lib.ToolReturnPart(
        name, content, fit_id(result.call, *_IDS), outcome="failed" if result.is_error else "success"
    )


def _convert_content(parts: Iterable[msg.UserPart], blobs: Blobs) -> Iterator[str | lib.BinaryContent]:
    for part in parts:
        if isinstance(part, msg.Image):
            yield _convert_image(part, blobs)
        elif part.words.strip():
            yield part.words


def _convert_image(image: msg.Image, blobs: Blobs) -> str | lib.BinaryContent:
    try:
        return lib.BinaryContent(data=blobs.get(image.blob), media_type=image.media_type)
    except KeyError:
        return MISSING_PICTURE


def _convert_reply(message: msg.AssistantMessage, maker: str) -> Iterator[lib.ModelResponsePart]:
    """Convert a reply. A seal that is not thinking's own belongs to the part after it.

    Thinking without a seal is not sent: the library would send it as text of the reply.
    """
    sealed: dict[str, JsonObject] = {}
    for part in message.content:
        match part:
            case msg.Thinking() if part.provider != maker:
                continue
            case msg.Thinking():
                fields = _unseal_part(part.redacted)
                kind = fields.pop("part", "")
                if kind == "thinking":
                    yield lib.ThinkingPart(part.text, **fields)
                else:
                    sealed = {kind: fields}
            case msg.Text(text=text):
                fields = sealed.pop("text", {})
                if text.strip() or fields:
                    yield lib.TextPart(text, **fields)
            case msg.ToolCall():
                yield lib.ToolCallPart(
                    fit_name(part.name), part.arguments, fit_id(part.id, *_IDS), **sealed.pop("tool-call", {})
                )


def _unseal_part(text: str) -> JsonObject:
    """Decode a seal's fields; empty when it is not one of ours."""
    fields = json_input.decode_or({}, text, JsonObject)
    return {name: value for name, value in fields.items() if name in (*_OPAQUE, "part")}
