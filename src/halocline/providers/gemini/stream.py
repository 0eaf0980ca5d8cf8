"""Translate Gemini's stream: payloads of one reply in, our events out.

Calls come whole, often without ids. A signature belongs to the one part it came with, so signed text is never joined
with other text. The stream has no end marker: a reply is complete once it has a stop reason.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, ToolCall, Usage
from halocline.protocol.values import JsonObject
from halocline.providers import reply
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import broken_off, decode_payload

_REFUSALS = (
    "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII ESCALATION IMAGE_SAFETY "
    "IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION MODEL_ARMOR"
)
_STOPS = {
    **dict.fromkeys(("MAX_TOKENS", "CONTINUATION"), StopReason.MAX_TOKENS),
    **dict.fromkeys(_REFUSALS.split(), StopReason.REFUSAL),
}

_FAILED_STOPS = {
    "OTHER": ModelErrorKind.SERVER,
    "IMAGE_OTHER": ModelErrorKind.SERVER,
    "NO_IMAGE": ModelErrorKind.SERVER,
    "TOO_MANY_TOOL_CALLS": ModelErrorKind.SERVER,
    "MALFORMED_RESPONSE": ModelErrorKind.MALFORMED,
    "MISSING_THOUGHT_SIGNATURE": ModelErrorKind.INVALID_REQUEST,
    "PUP_LIMITED_DISABLED": ModelErrorKind.AUTH,
}

_BAD_CALLS = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
_TRIED = re.compile(r"default_api[.:]([\w.-]+)\s*")

_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
)


class _WireCall(msgspec.Struct):
    """A call. `args` stays as it came, usually an object."""

    id: Any = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")


class _WirePart(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: Any = None
    thought_signature: str | None = None
    function_call: _WireCall | None = None


class _WireContent(msgspec.Struct):
    parts: list[_WirePart] | None = None


class _WireCandidate(msgspec.Struct, rename="camel"):
    content: _WireContent | None = None
    finish_reason: Any = None
    finish_message: Any = None


class _WireChunk(msgspec.Struct, rename="camel"):
    candidates: list[_WireCandidate] | None = None
    prompt_feedback: Any = None
    usage_metadata: Any = None
    error: Any = None


@dataclass(slots=True)
class _Piece:
    """A part of the reply, or adjacent unsigned parts of one kind."""

    thought: bool = False
    signature: str = ""
    words: list[str] = field(default_factory=list)
    call: reply.CallDraft | None = None

    def goes_on_with(self, sent: _WirePart) -> bool:
        open = self.call is None and not self.signature and not sent.thought_signature
        return open and self.thought == bool(sent.thought)


class FromWire(reply.ReplyReader):
    """Translates the payloads of one stream, in order."""

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._pieces: list[_Piece] = []
        self._why = ""
        self._blocked = ""

    @property
    def is_finished(self) -> bool:
        return bool(self._stop) and self._failure() is None

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        chunk = decode_payload(_WireChunk, payload, self._endpoint)
        if chunk.error:
            raise providers.errors.classify_in_stream(chunk.error, self._endpoint)
        if isinstance(chunk.usage_metadata, dict):
            self._count(chunk.usage_metadata)
        if isinstance(feedback := chunk.prompt_feedback, dict) and (block := feedback.get("blockReason")):
            words = filter(None, (str(block), reply.read_word(feedback.get("blockReasonMessage"))))
            self._blocked = f"the prompt was blocked: {', '.join(words)}"
        if not chunk.candidates:
            return ()
        candidate = chunk.candidates[0]
        self._stop = reply.read_word(candidate.finish_reason) or self._stop
        self._why = reply.read_word(candidate.finish_message) or self._why
        parts = (candidate.content and candidate.content.parts) or ()
        return tuple(event for part in parts for event in self._part(part))

    def finish(self) -> tuple[ModelEvent, ...]:
        if not (self._stop or self._blocked):
            raise broken_off(self._endpoint)
        if kind := self._failure():
            reason = f"{self._stop}: {self._why}" if self._why else self._stop
            text = f"{self._endpoint.vendor.title} failed before the reply was complete ({reason})."
            raise ModelError(kind, text, "Try again, or choose another model with -m.")
        stop = StopReason.REFUSAL if self._blocked else _STOPS.get(self._stop, StopReason.END_TURN)
        why = self._blocked or ": ".join(filter(None, (self._stop, self._why)))
        return reply.last_events(self._endpoint, self._parts(stop), stop, self.spent(), refused_for=why)

    def _failure(self) -> ModelErrorKind | None:
        """Return the kind of failure, if any. A malformed call without details can only be retried."""
        if self._stop in _BAD_CALLS and not self._why and not self._drafts():
            return ModelErrorKind.MALFORMED
        return _FAILED_STOPS.get(self._stop)

    def _part(self, sent: _WirePart) -> tuple[ModelEvent, ...]:
        if sent.function_call is not None:
            return self._call(sent.function_call, sent.thought_signature or "")
        text = sent.text or ""
        if not (text or sent.thought_signature):
            return ()
        if not (self._pieces and self._pieces[-1].goes_on_with(sent)):
            self._pieces.append(_Piece(bool(sent.thought), sent.thought_signature or ""))
        self._pieces[-1].words.append(text)
        if not text:
            return ()
        return (ThinkingDelta(text) if sent.thought else TextDelta(text),)

    def _call(self, sent: _WireCall, signature: str) -> tuple[ModelEvent, ...]:
        arguments = bytes(sent.args).decode("utf-8", "replace")
        draft = reply.CallDraft(id=self._ids.claim(reply.read_word(sent.id)), name=sent.name or "")
        draft.pieces.append("" if arguments == "null" else arguments)
        self._pieces.append(_Piece(signature=signature, call=draft))
        return draft.preview()

    def _count(self, sent: JsonObject) -> None:
        """Merge counts: they are cumulative and may be missing."""
        self._usage = _read_usage(self._grow(**{name: reply.read_count(sent, name) for name in _COUNTS}))

    def _parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        drafts = self._drafts()
        calls = iter(reply.finish_calls(drafts, self._ids, stop))
        for piece in self._pieces:
            text = "".join(piece.words)
            if piece.call is not None:
                yield from self._mark(piece.signature)
                yield next(calls)
            elif not text:
                yield Thinking(redacted=piece.signature, provider=self._endpoint.vendor.name)
            elif piece.thought:
                yield Thinking(text, signature=piece.signature, provider=self._endpoint.vendor.name)
            else:
                yield from self._mark(piece.signature)
                yield Text(text)
        if self._stop in _BAD_CALLS and not drafts:
            yield self._bad_call()

    def _drafts(self) -> list[reply.CallDraft]:
        return [piece.call for piece in self._pieces if piece.call is not None]

    def _mark(self, signature: str) -> Iterable[Thinking]:
        """Yield the signature of the part that follows."""
        if signature:
            yield Thinking(signature=signature, provider=self._endpoint.vendor.name)

    def _bad_call(self) -> ToolCall:
        """Build a malformed call from the server's report, so that the model sees it and can try again."""
        tried = _TRIED.search(self._why)
        name = reply.plain_name(tried[1]) if tried else reply.NO_NAME
        text = self._why[tried.end() :] if tried else self._why
        return ToolCall(id=self._ids.claim(""), name=name, malformed=text or self._why)


def _read_usage(counts: Mapping[str, int]) -> Usage:
    """Convert usage: the prompt includes cached tokens, which are subtracted; thoughts count as output."""
    prompt, in_tools, cached, written, thoughts = (counts[name] for name in _COUNTS)
    return Usage(
        input=max(0, prompt + in_tools - cached), output=written + thoughts, cache_read=cached, reasoning=thoughts
    )
