"""Translate the stream of SAP's orchestration: each payload holds a chunk of OpenAI's format."""

from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject
from halocline.providers.http import decode_payload
from halocline.providers.json_cache import encode_json
from halocline.providers.openai_chat.stream import FromWire as ChatFromWire

DONE = b"[DONE]"


class _WireEvent(msgspec.Struct):
    """One payload. An `error` is an object, or a list with one for each try of the service."""

    final_result: JsonObject | None = None
    error: Any = None


_decoder = json_input.Decoder(_WireEvent)


class FromWire(ChatFromWire):
    """Translates the payloads of one stream, in order."""

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        if payload == DONE:
            return super()._read(payload)
        event = decode_payload(_decoder, payload, self._endpoint)
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
