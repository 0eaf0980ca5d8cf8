"""Encodes turns of a script as each vendor's bytes: the real sequence of stream events, the real error documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from halocline.protocol.messages import StopReason, Usage
from halocline.providers.scripted.script import Fault, Turn, split_text

_encode = msgspec.json.encode
EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a stream. Deltas may be paced; the rest is sent at once."""

    data: bytes
    is_delta: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response, which is not a stream."""

    status: int
    document: Mapping[str, Any]


class WireFormat(Protocol):
    """A vendor's wire format. `too_long` is its message for a request of `{size}` tokens, more than `{window}`."""

    content_type: str
    too_long: str

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        """The reply. With a fault, it ends in the middle of the text. `number` makes ids unique."""

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        """The response for a fault before the text; None means a bad request."""

    def stream_error(self) -> bytes:
        """An error in the middle of a stream."""


class AnthropicFormat:
    """The Messages API."""

    content_type = EVENT_STREAM
    too_long = "prompt is too long: {size} tokens > {window} maximum"
    _REFUSALS: Mapping[Fault | None, tuple[int, str]] = {
        None: (400, "invalid_request_error"),
        Fault.RATE_LIMIT: (429, "rate_limit_error"),
        Fault.OVERLOADED: (529, "overloaded_error"),
        Fault.SERVER: (500, "api_error"),
        Fault.AUTH: (401, "authentication_error"),
        Fault.CONTEXT_EXCEEDED: (400, "invalid_request_error"),
    }
    _STOPS = {StopReason.MAX_TOKENS: "max_tokens", StopReason.REFUSAL: "refusal"}

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        usage = turn.usage or Usage()
        yield self._event("message_start", message=self._message(model, number, usage))
        yield self._event("ping")
        blocks = [*self._text_blocks(turn), *([] if turn.fault else self._call_blocks(turn, number))]
        for index, (block, deltas) in enumerate(blocks):
            yield self._event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield self._event("content_block_delta", index=index, delta=delta)
            if not turn.fault:
                yield self._event("content_block_stop", index=index)
        if not turn.fault:
            stop = self._STOPS.get(turn.stop, "tool_use" if turn.calls else "end_turn")
            ending = {"stop_reason": stop, "stop_sequence": None}
            yield self._event("message_delta", delta=ending, usage={"output_tokens": usage.output})
            yield self._event("message_stop")

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        status, kind = self._REFUSALS[fault]
        return Refusal(status, {"type": "error", "error": {"type": kind, "message": message}})

    def stream_error(self) -> bytes:
        return self._event("error", error={"type": "overloaded_error", "message": "Overloaded"}).data

    def _event(self, type: str, **fields: Any) -> Piece:
        data = b"event: %s\ndata: %s\n\n" % (type.encode(), _encode({"type": type, **fields}))
        return Piece(data, is_delta=type == "content_block_delta")

    def _message(self, model: str, number: int, usage: Usage) -> dict[str, Any]:
        counts = {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 1,
        }
        message = {"id": f"msg_{number:06}", "type": "message", "role": "assistant", "model": model, "content": []}
        return message | {"stop_reason": None, "stop_sequence": None, "usage": counts}

    def _text_blocks(self, turn: Turn) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        if turn.thinking:
            thoughts = [
                {"type": "thinking_delta", "thinking": piece} for piece in split_text(turn.thinking, turn.chunk)
            ]
            signed = [*thoughts, {"type": "signature_delta", "signature": "c2lnbmVk"}]
            yield {"type": "thinking", "thinking": "", "signature": ""}, signed
        if turn.streamed_text:
            words = [{"type": "text_delta", "text": piece} for piece in split_text(turn.streamed_text, turn.chunk)]
            yield {"type": "text", "text": ""}, words

    def _call_blocks(self, turn: Turn, number: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        for position, call in enumerate(turn.calls, start=1):
            block = {
                "type": "tool_use",
                "id": call.id or f"toolu_{number:06}_{position}",
                "name": call.tool,
                "input": {},
            }
            arguments = ["", *split_text(call.text, turn.chunk)]
            yield block, [{"type": "input_json_delta", "partial_json": piece} for piece in arguments]


class OpenAIFormat:
    """Chat Completions."""

    content_type = EVENT_STREAM
    too_long = (
        "This model's maximum context length is {window} tokens. However, your messages resulted in {size} tokens. "
        "Please reduce the length of the messages."
    )
    _REFUSALS: Mapping[Fault | None, tuple[int, str, str | None]] = {
        None: (400, "invalid_request_error", None),
        Fault.RATE_LIMIT: (429, "requests", "rate_limit_exceeded"),
        Fault.OVERLOADED: (503, "server_error", None),
        Fault.SERVER: (500, "server_error", None),
        Fault.AUTH: (401, "invalid_request_error", "invalid_api_key"),
        Fault.CONTEXT_EXCEEDED: (400, "invalid_request_error", "context_length_exceeded"),
    }
    _STOPS = {StopReason.MAX_TOKENS: "length", StopReason.REFUSAL: "content_filter"}

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        head = {"id": f"chatcmpl-{number:06}", "object": "chat.completion.chunk", "created": 0, "model": model}
        yield self._chunk(head, {"role": "assistant", "content": ""})
        for piece in split_text(turn.thinking, turn.chunk):
            yield self._chunk(head, {"reasoning_content": piece}, is_delta=True)
        for piece in split_text(turn.streamed_text, turn.chunk):
            yield self._chunk(head, {"content": piece}, is_delta=True)
        if turn.fault:
            return
        for fragment in self._calls(turn, number):
            yield self._chunk(head, {"tool_calls": [fragment]}, is_delta=True)
        yield self._chunk(head, {}, self._STOPS.get(turn.stop, "tool_calls" if turn.calls else "stop"))
        yield Piece(b"data: %s\n\n" % _encode({**head, "choices": [], "usage": self._usage(turn.usage or Usage())}))
        yield Piece(b"data: [DONE]\n\n")

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        status, kind, code = self._REFUSALS[fault]
        return Refusal(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})

    def stream_error(self) -> bytes:
        error = {"message": "The server had an error", "type": "server_error", "code": None}
        return b"data: %s\n\n" % _encode({"error": error})

    def _chunk(
        self, head: Mapping[str, Any], delta: Mapping[str, Any], stop: str | None = None, is_delta: bool = False
    ) -> Piece:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}
        return Piece(b"data: %s\n\n" % _encode({**head, "choices": [choice], "usage": None}), is_delta)

    def _calls(self, turn: Turn, number: int) -> Iterator[dict[str, Any]]:
        for index, call in enumerate(turn.calls):
            opening = {"name": call.tool, "arguments": ""}
            id = call.id or f"call_{number:06}_{index + 1}"
            yield {"index": index, "id": id, "type": "function", "function": opening}
            for piece in split_text(call.text, turn.chunk):
                yield {"index": index, "function": {"arguments": piece}}

    def _usage(self, usage: Usage) -> dict[str, Any]:
        prompt = usage.input + usage.cache_read + usage.cache_write
        return {
            "prompt_tokens": prompt,
            "completion_tokens": usage.output,
            "total_tokens": prompt + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
