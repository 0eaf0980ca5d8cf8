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
from halocline.protocol.errors import ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, ToolCall
from halocline.providers import reply
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import decode_payload

_REFUSALS = (
    "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII ESCALATION IMAGE_SAFETY "
    "IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION MODEL_ARMOR"
)
_BLOCKED = "the prompt was blocked"
_STOPS = {
    _BLOCKED: StopReason.REFUSAL,
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

_COUNTS = {
    "prompt": (("promptTokenCount",),),
    "in_tools": (("toolUsePromptTokenCount",),),
    "cached": (("cachedContentTokenCount",),),
    "output": (("candidatesTokenCount",),),
    "reasoning": (("thoughtsTokenCount",),),
}


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

    stops, failures, counts = _STOPS, _FAILED_STOPS, _COUNTS

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._pieces: list[_Piece] = []

    @property
    def is_finished(self) -> bool:
        return bool(self._stop) and self._failure() is None

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        chunk = decode_payload(_WireChunk, payload, self._endpoint)
        if chunk.error:
            raise providers.errors.classify_in_stream(chunk.error, self._endpoint)
        self._count(chunk.usage_metadata)
        if isinstance(feedback := chunk.prompt_feedback, dict) and (block := feedback.get("blockReason")):
            words = filter(None, (str(block), reply.read_word(feedback.get("blockReasonMessage"))))
            self._stop, self._why = _BLOCKED, ", ".join(words)
        if not chunk.candidates or self._stop == _BLOCKED:
            return ()
        candidate = chunk.candidates[0]
        self._stop = reply.read_word(candidate.finish_reason) or self._stop
        self._why = reply.read_word(candidate.finish_message) or self._why
        parts = (candidate.content and candidate.content.parts) or ()
        return tuple(event for part in parts for event in self._part(part))

    def _failure(self) -> ModelErrorKind | None:
        """Return the kind of failure, if any. A malformed call without details can only be retried."""
        if self._stop in _BAD_CALLS and not self._why and not self._drafts():
            return ModelErrorKind.MALFORMED
        return super()._failure()

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

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
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
