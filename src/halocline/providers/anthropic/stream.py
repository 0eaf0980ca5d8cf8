"""Translate Anthropic's stream: payloads of one reply in, our events out.

Blocks may begin unannounced, and counts may be repeated; no text that arrives is lost.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.events import TextDelta, ThinkingDelta
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, Usage
from halocline.protocol.values import JsonObject
from halocline.providers import reply
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import decode_payload
from halocline.providers.json_cache import encode_json

_STOPS = {
    "max_tokens": StopReason.MAX_TOKENS,
    # The server paused its own tools' turn too often.
    "pause_turn": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
}

_COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
_PROMPT = ("input", "cache_read", "cache_write")
_OF_SERVERS = re.compile(r"(?:server|mcp)_tool_use|\w+_tool_result")
"""Types of the blocks of tools that the server runs itself."""


class _WireBlock(msgspec.Struct):
    type: str = ""
    id: Any = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    input: Any = None


class _WireDelta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: Any = None


class _WireEvent(msgspec.Struct):
    """Any event of the stream; missing fields have their default. What only counts is read leniently."""

    type: str = ""
    index: Any = None
    delta: _WireDelta | None = None
    content_block: msgspec.Raw = msgspec.Raw()
    message: Any = None
    usage: Any = None
    error: Any = None


@dataclass(slots=True)
class _Block:
    """A content block being streamed. `server_block` is one of the server's own tools."""

    words: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    redacted: str = ""
    call: reply.CallDraft | None = None
    whole_input: str = ""
    server_block: JsonObject | None = None
    server_input: list[str] = field(default_factory=list)


class FromWire(reply.ReplyReader):
    """Translates the payloads of one stream, in order."""

    stops = _STOPS

    @property
    def is_paused(self) -> bool:
        return self._stop == "pause_turn"

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._blocks: list[_Block] = []
        self._open: dict[int, _Block] = {}

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        event = decode_payload(_WireEvent, payload, self._endpoint)
        index = reply.read_number(event.index) or 0
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._delta(index, event.delta)
            case "content_block_start" if bytes(event.content_block) not in (b"", b"null"):
                return self._start(index, bytes(event.content_block))
            case "message_start" if isinstance(event.message, dict):
                self._count(event.message.get("usage"))
            case "message_delta":
                self._stop = reply.read_word(event.delta and event.delta.stop_reason) or self._stop
                self._count(event.usage)
            case "message_stop":
                self.ended = True
            case "error":
                raise providers.errors.classify_in_stream(event.error, self._endpoint)
        return ()

    def _start(self, index: int, payload: bytes) -> tuple[ModelEvent, ...]:
        sent = decode_payload(_WireBlock, payload, self._endpoint)
        if _OF_SERVERS.fullmatch(sent.type):
            self._add_block(index).server_block = decode_payload(JsonObject, payload, self._endpoint)
            return ()
        block = self._open[index] = _Block(redacted=sent.data or "")
        self._blocks.append(block)
        if sent.type == "tool_use":
            block.call = reply.CallDraft(id=self._ids.claim(reply.read_word(sent.id)), name=sent.name or "")
            block.whole_input = encode_json(sent.input).decode() if sent.input else ""
            return ()
        first = _WireDelta(text=sent.text, thinking=sent.thinking, signature=sent.signature)
        return self._delta(index, first)

    def _delta(self, index: int, delta: _WireDelta) -> tuple[ModelEvent, ...]:
        block = self._open.get(index) or self._add_block(index)
        if delta.text:
            block.words.append(delta.text)
            return (TextDelta(delta.text),)
        if delta.thinking:
            block.thoughts.append(delta.thinking)
            return (ThinkingDelta(delta.thinking),)
        if delta.signature:
            block.signature.append(delta.signature)
        if delta.partial_json and block.server_block is not None:
            block.server_input.append(delta.partial_json)
        elif delta.partial_json:
            block.call = block.call or reply.CallDraft(id=self._ids.claim(""))
            block.call.pieces.append(delta.partial_json)
            return block.call.preview()
        return ()

    def _add_block(self, index: int) -> _Block:
        block = self._open[index] = _Block()
        self._blocks.append(block)
        return block

    def _count(self, sent: object) -> None:
        """Merge counts, which are cumulative and may repeat. The parts of the prompt may come again, divided better."""
        told = {kind: count for kind, name in _COUNTS.items() if (count := reply.read_count(sent, name))}
        before = {kind: self._counts.get(kind, 0) for kind in _PROMPT}
        prompt = before | {kind: count for kind, count in told.items() if kind in _PROMPT}
        if sum(prompt.values()) < sum(before.values()) or not told:
            prompt = before
        self._counts |= prompt
        if isinstance(sent, dict):
            self._usage = Usage(**self._grow(output=told.get("output", 0)))

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        for block in self._blocks:
            if block.call is not None and not block.call.pieces and block.whole_input:
                block.call.pieces.append(block.whole_input)
        drafts = [block.call for block in self._blocks if block.call is not None]
        calls = iter(reply.finish_calls(drafts, self._ids, stop))
        for block in self._blocks:
            if block.server_block is not None:
                given = "".join(block.server_input)
                whole = block.server_block | ({"input": reply.parse_arguments(given) or {}} if given else {})
                yield Thinking(redacted=encode_json(whole).decode(), provider=self._endpoint.vendor.name)
            yield from self._thinking(block)
            if block.words:
                yield Text("".join(block.words))
            if block.call is not None:
                yield next(calls)

    def _thinking(self, block: _Block) -> Iterable[Thinking]:
        thoughts, signature = "".join(block.thoughts), "".join(block.signature)
        if thoughts or signature or block.redacted:
            provider = self._endpoint.vendor.name
            yield Thinking(text=thoughts, signature=signature, redacted=block.redacted, provider=provider)
