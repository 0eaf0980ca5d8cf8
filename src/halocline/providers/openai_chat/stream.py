"""Translate a Chat Completions stream: payloads of one reply in, our events out. A whole reply is one payload.

Servers' additions to the format (reasoning, costs, content in pieces) are understood; unknown ones are ignored.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, Usage
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import broken_off, decode_payload
from halocline.providers.openai_chat.opaque import OpaqueEntries, seal_call
from halocline.providers.openai_chat.tool_calls import CallFragment, Calls
from halocline.providers.reply import ReplyReader, finish_calls, last_events, true_stop_reason
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

# Some servers report a failure as the stop reason. Google appends the cause after a colon.
_FAILED_STOPS = {
    "abort": ModelErrorKind.SERVER,
    "error": ModelErrorKind.SERVER,
    "function_call_filter": ModelErrorKind.MALFORMED,
    "insufficient_system_resource": ModelErrorKind.OVERLOADED,
    "network_error": ModelErrorKind.SERVER,
}


class _TokenDetails(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class _WireUsage(msgspec.Struct):
    """`prompt_cache_hit_tokens` is DeepSeek's. `cost` is what OpenRouter charged; with your own key, only its fee."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _TokenDetails | None = None
    completion_tokens_details: _TokenDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cost: Any = None
    is_byok: bool | None = None


class _WireDelta(msgspec.Struct):
    """`content` may be a list of typed pieces; the fields of reasoning are other servers' additions."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    thinking_blocks: list[Any] | None = None
    tool_calls: list[CallFragment] | None = None

    @property
    def is_plain(self) -> bool:
        """True if it holds nothing but words, as nearly always."""
        more = self.reasoning or self.reasoning_content or self.reasoning_details or self.thinking_blocks
        return type(self.content) is str and not (self.tool_calls or more or self.refusal)


class _WireChoice(msgspec.Struct):
    """A part of a reply, or in `message` the whole reply of a server that does not stream."""

    delta: _WireDelta | None = None
    message: _WireDelta | None = None
    finish_reason: str | None = None


class _WireChunk(msgspec.Struct):
    choices: list[_WireChoice] | None = None
    usage: _WireUsage | None = None
    error: Any = None


_decoder = json_input.Decoder(_WireChunk)


class FromWire(ReplyReader):
    """Translates the payloads of one stream, in order."""

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._calls = Calls(self._ids)
        self._text = ReplyText()
        self._opaque = OpaqueEntries()
        self._stop: str | None = None
        self._refused = False

    def feed(self, payload: bytes) -> tuple[ModelEvent, ...]:
        if payload == b"[DONE]":
            self.ended = True
            return ()
        chunk = decode_payload(_decoder, payload, self._endpoint)
        if chunk.error:
            raise providers.errors.classify_in_stream(chunk.error, self._endpoint)
        if chunk.usage is not None:
            self._count(chunk.usage)
        if not chunk.choices:
            return ()
        choice = chunk.choices[0]
        if choice.finish_reason:
            self._stop = choice.finish_reason
        if choice.message is not None:
            self.ended = True
        delta = choice.delta or choice.message
        return self._delta(delta) if delta is not None else ()

    def finish(self) -> tuple[ModelEvent, ...]:
        if not (self.ended or self._stop):
            raise broken_off(self._endpoint)
        reason = (self._stop or "").partition(":")[0]
        if kind := _FAILED_STOPS.get(reason):
            text = f"{self._endpoint.vendor.title} failed before the reply was complete."
            raise ModelError(kind, text, "Try again, or choose another model with -m.")
        stop = _STOPS.get(reason, StopReason.END_TURN)
        stop = StopReason.REFUSAL if self._refused else true_stop_reason(stop, self._usage, self._most)
        rest = self._text.end()
        refused_for = (self._stop or "") if _STOPS.get(reason) is StopReason.REFUSAL else ""
        return (*rest, *last_events(self._endpoint, self._parts(stop), stop, self.spent(), refused_for=refused_for))

    def _delta(self, delta: _WireDelta) -> tuple[ModelEvent, ...]:
        if delta.is_plain and self._text.has_only_words and delta.content:
            return (self._text.add_words(str(delta.content)),)
        return self._translate_mixed(delta)

    def _translate_mixed(self, delta: _WireDelta) -> tuple[ModelEvent, ...]:
        thoughts, text = _thoughts_and_words(delta)
        readable = self._opaque.add("reasoning_details", delta.reasoning_details or ())
        readable += self._opaque.add("thinking_blocks", delta.thinking_blocks or ())
        self._refused = self._refused or bool(delta.refusal)
        events = self._text.add(thoughts or readable, text)
        for fragment in delta.tool_calls or ():
            events += self._calls.add(fragment)
        return tuple(events)

    def _count(self, sent: _WireUsage) -> None:
        """Keep the newest count. `prompt_tokens` includes cached tokens, which are subtracted."""
        read, details = sent.prompt_tokens_details, sent.completion_tokens_details
        cache_read = (read and read.cached_tokens) or sent.prompt_cache_hit_tokens or 0
        cache_write = (read and read.cache_write_tokens) or 0
        prompt, output = sent.prompt_tokens or 0, sent.completion_tokens or 0
        reasoning = (details and details.reasoning_tokens) or 0
        if sent.total_tokens == prompt + output + reasoning:
            # Some servers do not count reasoning as completion.
            output += reasoning
        self._usage = Usage(
            input=max(0, prompt - cache_read - cache_write),
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            reasoning=reasoning,
        )
        if isinstance(sent.cost, int | float) and not sent.is_byok:
            self._cost = float(sent.cost)

    def _parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        provider = self._endpoint.vendor.name
        (thoughts, words), opaque = self._text.whole(), self._opaque.seal()
        if thoughts or opaque:
            yield Thinking(thoughts, redacted=opaque, provider=provider)
        if words:
            yield Text(words)
        drafts = self._calls.drafts
        for draft, call in zip(drafts, finish_calls(drafts, self._ids, stop), strict=True):
            if opaque := seal_call(draft.opaque):
                yield Thinking(redacted=opaque, provider=provider)
            yield call


def _thoughts_and_words(delta: _WireDelta) -> tuple[str, str]:
    thoughts = delta.reasoning_content or delta.reasoning or ""
    if not isinstance(delta.content, list):
        return thoughts, (delta.content or "") + (delta.refusal or "")
    pieces = [piece for piece in delta.content if isinstance(piece, dict)]
    thoughts += "".join(_piece_text(piece.get("thinking")) for piece in pieces)
    return thoughts, "".join(_piece_text(piece.get("text")) for piece in pieces)


def _piece_text(content: object) -> str:
    """Return the text of a piece, which may itself be a list of pieces."""
    if isinstance(content, list):
        return "".join(_piece_text(inner.get("text")) for inner in content if isinstance(inner, dict))
    return content if isinstance(content, str) else ""
