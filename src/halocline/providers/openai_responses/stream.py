"""Translate a Responses stream: payloads of one reply in, our events out.

Events and items of unknown types are ignored; `items` assembles the output items.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.messages import AssistantPart, StopReason
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import decode_payload
from halocline.providers.openai_responses.items import Output, WireItem
from halocline.providers.reply import ReplyReader, read_number, read_word

_KINDS = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary",
    "response.reasoning_text": "reasoning",
    "response.function_call_arguments": "arguments",
}
_STOPS = {"content_filter": StopReason.REFUSAL, "incomplete": StopReason.MAX_TOKENS}
_COUNTS = {
    "prompt": (("input_tokens",), ("prompt_tokens",)),
    "output": (("output_tokens",), ("completion_tokens",)),
    "total": (("total_tokens",),),
    "reasoning": (("output_tokens_details", "reasoning_tokens"),),
    "cached": (("input_tokens_details", "cached_tokens"),),
    "written": (("input_tokens_details", "cache_write_tokens"),),
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

    stops, counts, has_end_mark = _STOPS, _COUNTS, True

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._output = Output(self._ids, endpoint.vendor.name)

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
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

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        return self._output.parts(stop)

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
        self._count(response.usage)
        if ending == "failed" or response.status == "failed":
            raise providers.errors.classify_in_stream(response.error or {"code": "server_error"}, self._endpoint)
        self.ended = True
        details = response.incomplete_details
        if ending == "incomplete" or details is not None:
            filtered = isinstance(details, dict) and details.get("reason") == "content_filter"
            self._stop = "content_filter" if filtered else "incomplete"  # for an unknown reason it may be cut
        events = self._output.close((self._item(raw), _read_text(raw)) for raw in response.output or ())
        self._is_refused = self._output.refused
        return events

    def _item(self, raw: msgspec.Raw) -> WireItem:
        return decode_payload(WireItem, bytes(raw), self._endpoint)


def _read_text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8", "replace")
