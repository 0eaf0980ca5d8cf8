"""Encodes turns of a script as OpenAI's Responses API does: events are numbered, and each text is repeated whole."""

from collections.abc import Iterator
from typing import Any

import msgspec
from tests.servers.wire_formats import EVENT_STREAM, OpenAIFormat, Piece, Refusal

from halocline.protocol.messages import StopReason, Usage
from halocline.providers.scripted.script import Call, Fault, Turn, split_text

_REASONS = {StopReason.MAX_TOKENS: "max_output_tokens", StopReason.REFUSAL: "content_filter"}
_SECRET = "c2VjcmV0IHRob3VnaHRz"


class ResponsesFormat:
    """The Responses API. Its error documents are those of Chat Completions."""

    content_type = EVENT_STREAM
    too_long = "Your input exceeds the context window of this model. Please adjust your input and try again."

    def __init__(self) -> None:
        self._documents = OpenAIFormat()

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        return _Reply(turn, model, number).pieces()

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        return self._documents.refusal(fault, message)

    def stream_error(self) -> bytes:
        error = {"code": "server_error", "message": "The server had an error", "param": None}
        return _encode_event({"type": "error", **error, "sequence_number": 99}).data


class _Reply:
    """One reply, as it is being streamed."""

    def __init__(self, turn: Turn, model: str, number: int) -> None:
        self._turn = turn
        self._id = f"{number:06}"
        self._events = 0
        self._output: list[dict[str, Any]] = []
        self._response = {
            "id": f"resp_{self._id}",
            "object": "response",
            "created_at": 0,
            "error": None,
            "incomplete_details": None,
            "model": model,
            "parallel_tool_calls": True,
            "store": False,
            "tool_choice": "auto",
            "tools": [],
        }

    def pieces(self) -> Iterator[Piece]:
        yield self._lifecycle("created", "in_progress")
        yield self._lifecycle("in_progress", "in_progress")
        if self._turn.thinking:
            yield from self._reasoning()
        if self._turn.streamed_text:
            yield from self._message()
        if self._turn.fault:
            return
        for position, call in enumerate(self._turn.calls, start=1):
            yield from self._call(call, position)
        yield self._end()

    def _event(self, type: str, **fields: Any) -> Piece:
        self._events += 1
        return _encode_event({"type": f"response.{type}", "sequence_number": self._events - 1, **fields})

    def _lifecycle(self, type: str, status: str, **fields: Any) -> Piece:
        response = {**self._response, "status": status, "output": self._output, "usage": None, **fields}
        return self._event(type, response=response)

    def _end(self) -> Piece:
        usage = _encode_usage(self._turn.usage or Usage())
        if reason := _REASONS.get(self._turn.stop):
            return self._lifecycle("incomplete", "incomplete", incomplete_details={"reason": reason}, usage=usage)
        return self._lifecycle("completed", "completed", usage=usage)

    def _begin(self, item: dict[str, Any], **empty: Any) -> Piece:
        return self._event("output_item.added", output_index=len(self._output), item={**item, **empty})

    def _finish(self, item: dict[str, Any]) -> Piece:
        self._output.append(item)
        return self._event("output_item.done", output_index=len(self._output) - 1, item=item)

    def _place(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"item_id": item["id"], "output_index": len(self._output)}

    def _reasoning(self) -> Iterator[Piece]:
        part = {"type": "summary_text", "text": self._turn.thinking}
        item = {"id": f"rs_{self._id}", "type": "reasoning", "summary": [part], "encrypted_content": _SECRET}
        place = {**self._place(item), "summary_index": 0}
        yield self._begin(item, summary=[], encrypted_content="")
        yield self._event("reasoning_summary_part.added", **place, part={**part, "text": ""})
        for piece in split_text(self._turn.thinking, self._turn.chunk):
            yield self._event("reasoning_summary_text.delta", **place, delta=piece)
        yield self._event("reasoning_summary_text.done", **place, text=self._turn.thinking)
        yield self._event("reasoning_summary_part.done", **place, part=part)
        yield self._finish(item)

    def _message(self) -> Iterator[Piece]:
        text = self._turn.streamed_text
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
        item = {"id": f"msg_{self._id}", "type": "message", "role": "assistant", "content": [part]}
        place = {**self._place(item), "content_index": 0}
        yield self._begin(item, status="in_progress", content=[])
        yield self._event("content_part.added", **place, part={**part, "text": ""})
        for piece in split_text(text, self._turn.chunk):
            yield self._event("output_text.delta", **place, delta=piece, logprobs=[])
        if self._turn.fault:
            return
        yield self._event("output_text.done", **place, text=text, logprobs=[])
        yield self._event("content_part.done", **place, part=part)
        yield self._finish({**item, "status": self._status(last=not self._turn.calls)})

    def _call(self, call: Call, position: int) -> Iterator[Piece]:
        id = call.id or f"call_{self._id}_{position}"
        item = {"id": f"fc_{self._id}_{position}", "type": "function_call", "call_id": id, "name": call.tool}
        place = self._place(item)
        yield self._begin(item, status="in_progress", arguments="")
        for piece in split_text(call.text, self._turn.chunk):
            yield self._event("function_call_arguments.delta", **place, delta=piece)
        yield self._event("function_call_arguments.done", **place, arguments=call.text)
        last = position == len(self._turn.calls)
        yield self._finish({**item, "status": self._status(last), "arguments": call.text})

    def _status(self, last: bool) -> str:
        return "incomplete" if last and self._turn.stop in _REASONS else "completed"


def _encode_event(fields: dict[str, Any]) -> Piece:
    type = fields["type"]
    data = b"event: %s\ndata: %s\n\n" % (type.encode(), msgspec.json.encode(fields))
    return Piece(data, is_delta=type.endswith(".delta"))


def _encode_usage(usage: Usage) -> dict[str, Any]:
    read = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": read + usage.output,
    }
