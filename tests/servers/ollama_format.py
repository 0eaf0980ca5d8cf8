"""Encodes turns of a script as Ollama's own API does: lines of JSON, each with what is new."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from tests.servers.wire_formats import Piece, Refusal

from halocline.protocol.messages import StopReason, Usage
from halocline.providers.reply import parse_arguments
from halocline.providers.scripted.script import Fault, Turn, split_text

_encode = msgspec.json.encode
_SECOND = 1_000_000_000


class OllamaFormat:
    """`/api/chat`. Calls are sent whole; Ollama leaves one whose arguments are not valid JSON in the text."""

    content_type = "application/x-ndjson"
    too_long = "the prompt of {size} tokens is too long: the input length exceeds the context length ({window})"
    _STATUSES: Mapping[Fault | None, int] = {
        None: 400,
        Fault.RATE_LIMIT: 429,
        Fault.OVERLOADED: 503,
        Fault.SERVER: 500,
        Fault.AUTH: 401,
        Fault.CONTEXT_EXCEEDED: 400,
    }

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        usage = turn.usage or Usage()
        for piece in split_text(turn.thinking, turn.chunk):
            yield self._line(model, {"content": "", "thinking": piece})
        for piece in split_text(turn.streamed_text, turn.chunk):
            yield self._line(model, {"content": piece})
        if turn.fault:
            return
        for index, call in enumerate(turn.calls):
            arguments = parse_arguments(call.text)
            if arguments is None:
                yield self._line(model, {"content": f'{{"name": "{call.tool}", "parameters": {call.text}'})
                continue
            function = {"index": index, "name": call.tool, "arguments": arguments}
            sent = {"id": f"call_{number:06}{index}", "function": function}
            yield self._line(model, {"content": "", "tool_calls": [sent]})
        counts = {
            "total_duration": 2 * _SECOND,
            "load_duration": _SECOND // 10,
            "prompt_eval_count": usage.input + usage.cache_read + usage.cache_write,
            "prompt_eval_duration": _SECOND,
            "eval_count": usage.output,
            "eval_duration": _SECOND,
        }
        reason = "length" if turn.stop is StopReason.MAX_TOKENS else "stop"
        yield self._line(model, {"content": ""}, done=True, done_reason=reason, **counts)

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        return Refusal(self._STATUSES[fault], {"error": message})

    def stream_error(self) -> bytes:
        return _encode({"error": "an error was encountered while running the model"}) + b"\n"

    def _line(self, model: str, message: Mapping[str, Any], *, done: bool = False, **more: Any) -> Piece:
        whole = {"role": "assistant", **message}
        line = {"model": model, "created_at": "2026-11-01T12:00:00.123456789Z", "message": whole, "done": done, **more}
        return Piece(_encode(line) + b"\n", is_delta=not done)
