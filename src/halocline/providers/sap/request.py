"""SAP AI Core's orchestration: one format for the models of all vendors there, made of OpenAI's messages.

What must stay true: the service fills in templates only in the newest message, so its own marks there are shielded.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from halocline import providers
from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.values import JsonObject
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.http import ServedModel, decode_payload
from halocline.providers.json_cache import Fragment, Fragments, encode_json, separate_parts
from halocline.providers.openai_chat.request import encode_messages, encode_tools, list_messages
from halocline.providers.openai_chat.stream import FromWire as ChatFromWire
from halocline.providers.sap.access import Access

_OPENAI = re.compile(r"(gpt|o\d)")
_MARK = "{{?"


class _WireEvent(msgspec.Struct):
    """One payload. An `error` is an object, or a list with one for each try of the service."""

    final_result: JsonObject | None = None
    error: Any = None


class FromWire(ChatFromWire):
    """Translates the payloads of one stream, in order."""

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        event = decode_payload(_WireEvent, payload, self._endpoint)
        if event.error:
            first = event.error[0] if isinstance(event.error, list) else event.error
            raise providers.errors.classify_in_stream(first, self._endpoint)
        return super()._read(encode_json(_join_reasoning(event.final_result))) if event.final_result else ()


def _join_reasoning(chunk: JsonObject) -> JsonObject:
    """Make text of reasoning, which comes in blocks. Their signatures are dropped: nothing asks for such thinking."""
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if isinstance(delta, dict) and isinstance(blocks := delta.get("reasoning_content"), list):
            texts = (block.get("content") for block in blocks if isinstance(block, dict))
            delta["reasoning_content"] = "".join(text for text in texts if isinstance(text, str))
    return chunk


class SapAiCore(ServedModel[Fragment]):
    """A model of SAP AI Core. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        super().__init__(endpoint, encode_messages(endpoint, blobs), None)
        self._access = Access(endpoint)

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        at = await self._access.open()
        if at is not self._endpoint:
            self._endpoint, self._client = at, HttpClient(at.url, at.network)
        body = to_wire(request, at, self._fragments)
        reply = self._exchange(request, "/v2/completion", body, FromWire(request, at))
        async with aclosing(reply) as events:
            async for event in events:
                yield event


def to_wire(request: Request, endpoint: Endpoint, fragments: Fragments[Fragment]) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of messages."""
    model = endpoint.wire_model(request.model)
    params: JsonObject = {"max_tokens": request.max_tokens} if request.max_tokens else {}
    if request.wishes_thinking and _OPENAI.match(model):
        params |= providers.thinking.for_chat(request, endpoint)
    *history, last = list_messages(request, endpoint, fragments)
    newest, values = shield_marks(msgspec.json.decode(last))
    prompt: JsonObject = {"template": [newest]}
    if request.tools:
        prompt["tools"] = encode_tools(request)
    templating = {"prompt": prompt, "model": {"name": model, "version": "latest", "params": params}}
    head: JsonObject = {"config": {"modules": {"prompt_templating": templating}, "stream": {"enabled": True}}}
    if values:
        head["placeholder_values"] = values
    return [encode_head(head, endpoint), b',"messages_history":[', *separate_parts(history), b"]}"]


def shield_marks(message: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    """Return the message with each text that has a mark of a template as a value of one, and these values."""
    values: dict[str, str] = {}

    def shield(text: str) -> str:
        if _MARK not in text:
            return text
        name = f"text_{len(values)}"
        values[name] = text
        return f"{_MARK}{name}}}}}"

    content: Any = message.get("content")
    if isinstance(content, str):
        return message | {"content": shield(content)}, values
    if isinstance(content, list):
        parts = [part | {"text": shield(part["text"])} if "text" in part else part for part in content]
        return message | {"content": parts}, values
    return message, values
