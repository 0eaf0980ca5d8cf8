"""Translate a Chat Completions stream: payloads of one reply in, our events out. A whole reply is one payload.

Servers' additions to the format (reasoning, costs, content in pieces) are understood; unknown ones are ignored.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelErrorKind
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import decode_payload
from halocline.providers.openai_chat.opaque import ENTRY_LISTS, REASONING_FIELDS, OpaqueEntries, seal_call
from halocline.providers.openai_chat.tool_calls import CallFragment, Calls
from halocline.providers.reply import ReplyReader, finish_calls, read_word
from halocline.providers.reply_text import ReplyText

_STOPS = {
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_length": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
}

# Some servers report a failure as the stop reason.
_FAILED_STOPS = {
    "abort": ModelErrorKind.SERVER,
    "error": ModelErrorKind.SERVER,
    "function_call_filter": ModelErrorKind.MALFORMED,
    "insufficient_system_resource": ModelErrorKind.OVERLOADED,
    "network_error": ModelErrorKind.SERVER,
}

_COUNTS = {
    "prompt": (("prompt_tokens",), ("input_tokens",), ("usage", "prompt_tokens")),
    "output": (("completion_tokens",), ("output_tokens",), ("usage", "completion_tokens")),
    "total": (("total_tokens",),),
    "reasoning": (("completion_tokens_details", "reasoning_tokens"),),
    "cached": (
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("cached_tokens",),
        ("cache_read_input_tokens",),
        ("prompt_cache_hit_tokens",),
    ),
    "written": (
        ("prompt_tokens_details", "cache_write_tokens"),
        ("prompt_tokens_details", "cache_creation_tokens"),
        ("cache_creation_input_tokens",),
    ),
}
"""The places of each count: OpenAI's first, then its other API's, Groq's, Moonshot's, LiteLLM's, DeepSeek's."""


class _WireDelta(msgspec.Struct):
    """`content` may be a list of typed pieces; the fields of reasoning are other servers' additions."""

    content: str | list[Any] | None = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    thinking_blocks: Any = None
    tool_calls: list[CallFragment] | None = None

    @property
    def is_plain(self) -> bool:
        """True if it holds nothing but words, or nothing but pieces of calls, as nearly always."""
        more = self.reasoning or self.reasoning_content or self.reasoning_details or self.thinking_blocks
        return not (more or self.refusal or (self.content and self.tool_calls) or isinstance(self.content, list))


class _WireChoice(msgspec.Struct):
    """A part of a reply, or in `message` the whole reply of a server that does not stream."""

    delta: _WireDelta | None = None
    message: _WireDelta | None = None
    finish_reason: Any = None
    usage: Any = None


class _WireChunk(msgspec.Struct):
    """A payload. What only counts or names is read leniently, whatever its type."""

    choices: list[_WireChoice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None


class FromWire(ReplyReader):
    """Translates the payloads of one stream, in order."""

    stops, failures, counts, has_end_mark = _STOPS, _FAILED_STOPS, _COUNTS, True

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._calls = Calls(self._ids)
        self._text = ReplyText()
        self._opaque = OpaqueEntries()
        self._field = ""
        self._stops_early = False

    @property
    def is_finished(self) -> bool:
        """False also where the server stops after each piece, or will tell why it failed."""
        return self.ended or bool(self._stop and not self._stops_early and not self._failure())

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        chunk = decode_payload(_WireChunk, payload, self._endpoint)
        if chunk.error:
            raise providers.errors.classify_in_stream(chunk.error, self._endpoint)
        if usage := chunk.usage or chunk.x_groq:
            self._count(usage)
        if not chunk.choices:
            return ()
        choice = chunk.choices[0]
        if choice.usage:
            self._count(choice.usage)
        delta = choice.delta or choice.message
        self._stops_early = self._stops_early or bool(self._stop and delta and (delta.content or delta.tool_calls))
        self._stop = read_word(choice.finish_reason) or self._stop
        if choice.message is not None:
            self.ended = True
        if delta is None:
            return ()
        if delta.is_plain and self._text.has_only_words and delta.content:
            return (self._text.add_words(str(delta.content)),)
        if delta.is_plain and delta.tool_calls:
            return tuple(event for fragment in delta.tool_calls or () for event in self._calls.add(fragment))
        return self._translate_mixed(delta)

    def _last(self) -> Iterable[ModelEvent]:
        return self._text.end()

    def _translate_mixed(self, delta: _WireDelta) -> tuple[ModelEvent, ...]:
        field = next((name for name in REASONING_FIELDS if isinstance(said := getattr(delta, name), str) and said), "")
        self._field = self._field or field
        thoughts, text = _thoughts_and_words(delta, field)
        readable = "".join(self._opaque.add(name, getattr(delta, name)) for name in ENTRY_LISTS)
        self._is_refused = self._is_refused or bool(delta.refusal)
        events = self._text.add(thoughts or readable, text)
        for fragment in delta.tool_calls or ():
            events += self._calls.add(fragment)
        return tuple(events)

    def _count(self, sent: Any) -> None:
        super()._count(sent)
        # What OpenRouter charged; with your own key, only its fee.
        if isinstance(sent, dict) and isinstance(cost := sent.get("cost"), int | float) and not sent.get("is_byok"):
            self._cost = float(cost)

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        provider = self._endpoint.vendor.name
        is_known = self._endpoint.vendor.reasoning_field or self._endpoint.info.reasoning_field
        (thoughts, words), opaque = self._text.whole(), self._opaque.seal("" if is_known else self._field)
        if thoughts or opaque:
            yield Thinking(thoughts, redacted=opaque, provider=provider)
        if words:
            yield Text(words)
        drafts = self._calls.drafts
        for draft, call in zip(drafts, finish_calls(drafts, self._ids, stop), strict=True):
            if opaque := seal_call(draft.opaque):
                yield Thinking(redacted=opaque, provider=provider)
            yield call


def _thoughts_and_words(delta: _WireDelta, field: str) -> tuple[str, str]:
    thoughts = getattr(delta, field) if field else ""
    if not isinstance(delta.content, list):
        return thoughts, (delta.content or "") + _piece_text(delta.refusal)
    pieces = [piece for piece in delta.content if isinstance(piece, dict)]
    thoughts += "".join(_piece_text(piece.get("thinking")) for piece in pieces)
    return thoughts, "".join(_piece_text(piece.get("text")) for piece in pieces)


def _piece_text(content: object) -> str:
    """Return the text of a piece, which may itself be a list of pieces."""
    if isinstance(content, list):
        return "".join(_piece_text(inner.get("text")) for inner in content if isinstance(inner, dict))
    return content if isinstance(content, str) else ""
