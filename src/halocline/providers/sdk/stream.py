"""Translate the library's stream: events of one reply in, ours out.

The message is built from the parts that the library holds at the end: only they have every signature.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace
from pydantic_ai import messages as lib
from pydantic_ai.usage import RequestUsage

from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta, UsageReported
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, ToolCall, Usage
from halocline.providers.endpoint import Endpoint
from halocline.providers.json_cache import encode_json
from halocline.providers.reply import CallDraft, ReplyReader, finish_calls, make_usage
from halocline.providers.sdk.messages import seal_part

_STOPS = {
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}


class FromLibrary(ReplyReader):
    """Translates the events of one stream, in order."""

    stops = _STOPS

    def __init__(self, request: Request, endpoint: Endpoint) -> None:
        super().__init__(request, endpoint)
        self._calls: dict[int, CallDraft] = {}

    def translate(self, event: lib.ModelResponseStreamEvent) -> tuple[ModelEvent, ...]:
        match event:
            case lib.PartStartEvent(part=lib.TextPart(content=text)) if text:
                return (TextDelta(text),)
            case lib.PartStartEvent(part=lib.ThinkingPart(content=text)) if text:
                return (ThinkingDelta(text),)
            case lib.PartStartEvent(index=index, part=lib.ToolCallPart() as call):
                return self._begin(index, call)
            case lib.PartDeltaEvent(delta=lib.TextPartDelta(content_delta=text)) if text:
                return (TextDelta(text),)
            case lib.PartDeltaEvent(delta=lib.ThinkingPartDelta(content_delta=str(text))) if text:
                return (ThinkingDelta(text),)
            case lib.PartDeltaEvent(index=index, delta=lib.ToolCallPartDelta(args_delta=arguments)) if (
                index in self._calls
            ):
                return self._go_on(self._calls[index], arguments)
        return ()

    def end(self, response: lib.ModelResponse) -> tuple[ModelEvent, ...]:
        """Return usage and message. Raises ModelError when the reply is incomplete, failed or empty."""
        self._whole, self._stop = response, response.finish_reason or ""
        if self._stop == "error":
            self._why = str((response.provider_details or {}).get("finish_reason", ""))
        self._usage = _read_usage(response.usage)
        return self.finish()

    def spent(self) -> UsageReported | None:
        """Report usage; where we have no price, the library's applies."""
        spent = super().spent()
        return replace(spent, cost=_cost_of(self._whole)) if spent and spent.cost is None else spent

    def _failure(self) -> ModelErrorKind | None:
        """Return the kind of failure. For a malformed call, Google's servers send only this reason."""
        if self._stop != "error":
            return None
        return ModelErrorKind.MALFORMED if "MALFORMED" in self._why else ModelErrorKind.SERVER

    def _begin(self, index: int, call: lib.ToolCallPart) -> tuple[ModelEvent, ...]:
        draft = CallDraft(call.tool_call_id, self._ids.claim(call.tool_call_id), call.tool_name)
        self._calls[index] = draft
        return self._go_on(draft, call.args)

    def _go_on(self, draft: CallDraft, arguments: str | dict[str, object] | None) -> tuple[ModelEvent, ...]:
        if text := _arguments_text(arguments):
            draft.pieces.append(text)
        return draft.preview()

    def parts(self, stop: StopReason) -> Iterator[AssistantPart]:
        parts = self._whole.parts
        calls = iter(self._finish_calls([part for part in parts if isinstance(part, lib.ToolCallPart)], stop))
        provider = self._endpoint.vendor.name
        for part in parts:
            opaque = seal_part(part)
            match part:
                case lib.ThinkingPart(content=text):
                    if text or opaque:
                        yield Thinking(text, redacted=opaque, provider=provider)
                    continue
                case lib.TextPart(content=text) if not text:
                    continue
                case lib.TextPart() | lib.ToolCallPart() if opaque:
                    yield Thinking(redacted=opaque, provider=provider)
            match part:
                case lib.TextPart(content=text):
                    yield Text(text)
                case lib.ToolCallPart():
                    yield next(calls)

    def _finish_calls(self, calls: Iterable[lib.ToolCallPart], stop: StopReason) -> list[ToolCall]:
        """Return the finished calls, with the ids under which they were shown."""
        shown = iter(self._calls.values())
        drafts = []
        for call in calls:
            draft = next(shown, None) or CallDraft(call.tool_call_id, self._ids.claim(call.tool_call_id))
            draft.name, draft.pieces = call.tool_name, [_arguments_text(call.args)]
            drafts.append(draft)
        return finish_calls(drafts, self._ids, stop)


def _arguments_text(arguments: str | dict[str, object] | None) -> str:
    return encode_json(arguments).decode() if isinstance(arguments, dict) else arguments or ""


def _read_usage(usage: RequestUsage) -> Usage:
    """Convert usage: the library counts cached tokens as input."""
    cached, reasoning = usage.cache_read_tokens, usage.details.get("reasoning_tokens", 0)
    return make_usage(usage.input_tokens, usage.output_tokens, cached, usage.cache_write_tokens, reasoning)


def _cost_of(response: lib.ModelResponse) -> float | None:
    """Return the cost in dollars by the library's prices; None when it does not know the model."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
