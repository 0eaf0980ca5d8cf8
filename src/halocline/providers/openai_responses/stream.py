"""Translate a Responses stream: payloads of one reply in, our events out.

Events and items of unknown types are ignored; `items` assembles the output items.
"""

from collections.abc import Collection
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.values import JsonObject
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import broken_off, decode_payload
from halocline.providers.openai_responses.items import Output, WireItem
from halocline.providers.reply import ReplyReader, last_events, read_count, read_number, read_word, true_stop_reason

_KINDS = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary",
    "response.reasoning_text": "reasoning",
    "response.function_call_arguments": "arguments",
}
_NOTHING = msgspec.Raw(b"{}")


class _WireEvent(msgspec.Struct):
    """Any event of the stream. Fields of specific types are decoded once the type is known; places leniently."""

    type: str = ""
    output_index: Any = None
    item_id: Any = None
    content_index: Any = None
    summary_index: Any = None
    delta: Any = None
    text: Any = None
    refusal: Any = None
    arguments: Any = None
    item: msgspec.Raw = _NOTHING
    response: msgspec.Raw = _NOTHING
    error: Any = None
    code: Any = None
    message: Any = None


class _WireResponse(msgspec.Struct):
    status: Any = None
    output: list[msgspec.Raw] | None = None
    usage: Any = None
    error: Any = None
    incomplete_details: Any = None


class FromWire(ReplyReader):
    """Translates the payloads of one stream, in order."""

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._output = Output(self._ids, endpoint.vendor.name)
        self._meant = StopReason.END_TURN

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        if payload == b"[DONE]":
            self.ended = True
            return ()
        event = decode_payload(_WireEvent, payload, self._endpoint)
        if event.type == "error" or event.error:
            raise providers.errors.classify_in_stream(
                event.error or {"code": event.code, "message": event.message}, self._endpoint
            )
        stem, _, ending = event.type.rpartition(".")
        if kind := _KINDS.get(stem):
            return self._passage(event, kind, ending)
        match event.type:
            case "response.output_item.added":
                return self._output.begin(read_number(event.output_index), self._item(event.item))
            case "response.output_item.done":
                return self._output.end(read_number(event.output_index), self._item(event.item), _read_text(event.item))
            case "response.completed" | "response.incomplete" | "response.failed":
                response = decode_payload(_WireResponse, bytes(event.response), self._endpoint)
                return self._close(response, ending)
        return ()

    def finish(self) -> tuple[ModelEvent, ...]:
        if not self.ended:
            raise broken_off(self._endpoint)
        stop = StopReason.REFUSAL if self._output.refused else true_stop_reason(self._meant, self._usage, self._most)
        return last_events(self._endpoint, self._output.parts(stop), stop, self.spent())

    def _passage(self, event: _WireEvent, kind: str, ending: str) -> tuple[ModelEvent, ...]:
        index = read_number(event.summary_index if kind == "summary" else event.content_index) or 0
        place = read_number(event.output_index), read_word(event.item_id)
        if ending == "delta" and isinstance(event.delta, str):
            return self._output.say(*place, kind, index, event.delta)
        whole = {"refusal": event.refusal, "arguments": event.arguments}.get(kind, event.text)
        if ending == "done" and isinstance(whole, str):
            return self._output.complete(*place, kind, index, whole)
        return ()

    def _close(self, response: _WireResponse, ending: str) -> tuple[ModelEvent, ...]:
        if isinstance(response.usage, dict):
            self._usage = _read_usage(response.usage)
        if ending == "failed" or response.status == "failed":
            raise providers.errors.classify_in_stream(response.error or {"code": "server_error"}, self._endpoint)
        self.ended = True
        if ending == "incomplete" or response.incomplete_details is not None:
            self._meant = _stop_reason(response.incomplete_details)
        return self._output.close((self._item(raw), _read_text(raw)) for raw in response.output or ())

    def _item(self, raw: msgspec.Raw) -> WireItem:
        return decode_payload(WireItem, bytes(raw), self._endpoint)


def _stop_reason(details: Any) -> StopReason:
    """Why a reply is incomplete. An unknown reason counts as a limit: the reply may be cut."""
    filtered = isinstance(details, dict) and details.get("reason") == "content_filter"
    return StopReason.REFUSAL if filtered else StopReason.MAX_TOKENS


def _read_usage(sent: JsonObject) -> Usage:
    """Convert usage; `input_tokens` includes cached tokens, which are subtracted."""
    cache_read = read_count(sent, "input_tokens_details", "cached_tokens")
    cache_write = read_count(sent, "input_tokens_details", "cache_write_tokens")
    return Usage(
        input=max(0, read_count(sent, "input_tokens") - cache_read - cache_write),
        output=read_count(sent, "output_tokens"),
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=read_count(sent, "output_tokens_details", "reasoning_tokens"),
    )


def _read_text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8", "replace")
