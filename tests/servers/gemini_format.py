"""Encodes turns of a script as the Gemini API does: every event is a whole response with what is new."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from tests.servers.wire_formats import EVENT_STREAM, Piece, Refusal

from halocline.protocol.messages import StopReason, Usage
from halocline.providers.reply import parse_arguments
from halocline.providers.scripted.script import Fault, Turn, split_text

_encode = msgspec.json.encode
_SIGNATURE = "c2lnbmVk"


class GeminiFormat:
    """`models/…:streamGenerateContent` with `alt=sse`. Calls are sent whole and without ids, as Gemini does."""

    content_type = EVENT_STREAM
    too_long = "The input token count ({size}) exceeds the maximum number of tokens allowed ({window})."
    _REFUSALS: Mapping[Fault | None, tuple[int, str]] = {
        None: (400, "INVALID_ARGUMENT"),
        Fault.RATE_LIMIT: (429, "RESOURCE_EXHAUSTED"),
        Fault.OVERLOADED: (503, "UNAVAILABLE"),
        Fault.SERVER: (500, "INTERNAL"),
        Fault.AUTH: (400, "INVALID_ARGUMENT"),
        Fault.CONTEXT_EXCEEDED: (400, "INVALID_ARGUMENT"),
    }
    _STOPS = {StopReason.MAX_TOKENS: "MAX_TOKENS", StopReason.REFUSAL: "SAFETY"}

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        tail = {"modelVersion": model, "responseId": f"response-{number:06}"}
        usage = turn.usage or Usage()
        for piece in split_text(turn.thinking, turn.chunk):
            yield self._response({"text": piece, "thought": True}, self._counts(usage, 0), tail)
        for piece in split_text(turn.streamed_text, turn.chunk):
            yield self._response({"text": piece}, self._counts(usage, 0), tail)
        if turn.fault:
            return
        for part in self._calls(turn):
            yield self._response(part, self._counts(usage, 0), tail)
        yield self._response({"text": ""}, self._counts(usage, usage.output), tail, self._ending(turn))

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        status, name = self._REFUSALS[fault]
        error: dict[str, Any] = {"code": status, "message": message, "status": name}
        if fault is Fault.AUTH:
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            error["details"] = [reason]
        return Refusal(status, {"error": error})

    def stream_error(self) -> bytes:
        error = {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}
        return b"data: %s\r\n\r\n" % _encode({"error": error})

    def _response(
        self,
        part: Mapping[str, Any],
        counts: Mapping[str, int],
        tail: Mapping[str, Any],
        ending: Mapping[str, str] | None = None,
    ) -> Piece:
        candidate = {"content": {"parts": [part], "role": "model"}, **(ending or {}), "index": 0}
        response = {"candidates": [candidate], "usageMetadata": counts, **tail}
        return Piece(b"data: %s\r\n\r\n" % _encode(response), is_delta=ending is None)

    def _calls(self, turn: Turn) -> Iterator[dict[str, Any]]:
        """The calls with valid arguments; the first one is signed if there was thinking."""
        signature = {"thoughtSignature": _SIGNATURE} if turn.thinking else {}
        for call in turn.calls:
            if (arguments := parse_arguments(call.text)) is not None:
                yield {"functionCall": {"name": call.tool, "args": arguments}, **signature}
                signature = {}

    def _ending(self, turn: Turn) -> dict[str, str]:
        """The finish reason; a call with invalid arguments appears only here."""
        for call in turn.calls:
            if parse_arguments(call.text) is None:
                tried = f"Malformed function call: call:default_api:{call.tool}{call.text}"
                return {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": tried}
        return {"finishReason": self._STOPS.get(turn.stop, "STOP")}

    def _counts(self, usage: Usage, output: int) -> dict[str, int]:
        """The token counts; the API does not report cache writes, so they count as prompt."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        counts = {"promptTokenCount": prompt, "cachedContentTokenCount": usage.cache_read}
        if output:
            counts["candidatesTokenCount"] = output - usage.reasoning
            counts["thoughtsTokenCount"] = usage.reasoning
        return counts | {"totalTokenCount": prompt + output}
