"""Translate Gemini's stream: payloads of one reply in, our events out.

Calls come whole, often without ids. A signature belongs to the one part it came with, so signed text is never joined
with other text. The stream has no end marker: a reply is complete once it has a stop reason.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, ToolCall, Usage
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import broken_off, decode_payload
from halocline.providers.reply import CallDraft, ReplyReader, finish_calls, last_events

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
_UNNAMED = "unnamed"


class _WireCall(msgspec.Struct):
    """A call. `args` stays as it came, usually an object."""

    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")


class _WirePart(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _WireCall | None = None


class _WireContent(msgspec.Struct):
    parts: list[_WirePart] | None = None


class _WireCandidate(msgspec.Struct, rename="camel"):
    content: _WireContent | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _WireFeedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _WireUsage(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _WireChunk(msgspec.Struct, rename="camel"):
    candidates: list[_WireCandidate] | None = None
    prompt_feedback: _WireFeedback | None = None
    usage_metadata: _WireUsage | None = None
    error: Any = None


_decoder = json_input.Decoder(_WireChunk)


@dataclass(slots=True)
class _Piece:
    """A part of the reply, or adjacent unsigned parts of one kind."""

    thought: bool = False
    signature: str = ""
    words: list[str] = field(default_factory=list)
    call: CallDraft | None = None

    def goes_on_with(self, sent: _WirePart) -> bool:
        open = self.call is None and not self.signature and not sent.thought_signature
        return open and self.thought == bool(sent.thought)


class FromWire(ReplyReader):
    """Translates the payloads of one stream, in order."""

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._pieces: list[_Piece] = []
        self._counts = _WireUsage()
        self._stop: str | None = None
        self._why = ""
        self._blocked = ""

    def feed(self, payload: bytes) -> tuple[ModelEvent, ...]:
        chunk = decode_payload(_decoder, payload, self._endpoint)
        if chunk.error:
            raise providers.errors.classify_in_stream(chunk.error, self._endpoint)
        if chunk.usage_metadata is not None:
            self._count(chunk.usage_metadata)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._blocked = _describe_block(chunk.prompt_feedback)
        if not chunk.candidates:
            return ()
        candidate = chunk.candidates[0]
        self._stop = candidate.finish_reason or self._stop
        self._why = candidate.finish_message or self._why
        parts = (candidate.content and candidate.content.parts) or ()
        return tuple(event for part in parts for event in self._part(part))

    def finish(self) -> tuple[ModelEvent, ...]:
        if not (self._stop or self._blocked):
            raise broken_off(self._endpoint)
        if kind := self._failure():
            reason = f"{self._stop}: {self._why}" if self._why else self._stop
            text = f"{self._endpoint.vendor.title} failed before the reply was complete ({reason})."
            raise ModelError(kind, text, "Try again, or choose another model with -m.")
        stop = StopReason.REFUSAL if self._blocked else _STOPS.get(self._stop or "", StopReason.END_TURN)
        why = self._blocked or ": ".join(filter(None, (self._stop, self._why)))
        return last_events(self._endpoint, self._parts(stop), stop, self.spent(), refused_for=why)

    def _failure(self) -> ModelErrorKind | None:
        """Return the kind of failure, if any. A malformed call without details can only be retried."""
        if self._stop in _BAD_CALLS and not self._why and not self._drafts():
            return ModelErrorKind.MALFORMED
        return _FAILED_STOPS.get(self._stop or "")

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
        draft = CallDraft(id=self._ids.claim(sent.id or ""), name=sent.name or "")
        draft.pieces.append("" if arguments == "null" else arguments)
        self._pieces.append(_Piece(signature=signature, call=draft))
        return draft.preview()

    def _count(self, sent: _WireUsage) -> None:
        """Merge counts: they are cumulative and may be missing, so the newest of each kind counts."""
        known = {name: count for name, count in msgspec.structs.asdict(sent).items() if count is not None}
        self._counts = msgspec.structs.replace(self._counts, **known)
        self._usage = _read_usage(self._counts)

    def _parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        drafts = self._drafts()
        calls = iter(finish_calls(drafts, self._ids, stop))
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

    def _drafts(self) -> list[CallDraft]:
        return [piece.call for piece in self._pieces if piece.call is not None]

    def _mark(self, signature: str) -> Iterable[Thinking]:
        """Yield the signature of the part that follows."""
        if signature:
            yield Thinking(signature=signature, provider=self._endpoint.vendor.name)

    def _bad_call(self) -> ToolCall:
        """Build a malformed call from the server's report, so that the model sees it and can try again."""
        tried = _TRIED.search(self._why)
        name = tried[1] if tried else _UNNAMED
        text = self._why[tried.end() :] if tried else self._why
        return ToolCall(id=self._ids.claim(""), name=name, malformed=text or self._why)


def _describe_block(feedback: _WireFeedback) -> str:
    said = feedback.block_reason_message
    return f"the prompt was blocked: {feedback.block_reason}{f', {said}' if said else ''}"


def _read_usage(counts: _WireUsage) -> Usage:
    """Convert usage: the prompt includes cached tokens, which are subtracted; thoughts count as output."""
    cached, thoughts = counts.cached_content_token_count or 0, counts.thoughts_token_count or 0
    prompt = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
    return Usage(
        input=max(0, prompt - cached),
        output=(counts.candidates_token_count or 0) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
