"""Translate Ollama's stream: lines of one reply in, our events out.

Calls come whole. Older versions leave thinking in the text, between tags.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from halocline import providers
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking, Usage
from halocline.providers import reply
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import decode_payload
from halocline.providers.reply_text import ReplyText

_STOPS = {"length": StopReason.MAX_TOKENS}


class _WireFunction(msgspec.Struct):
    """A call. `arguments` stays as it came, usually an object."""

    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")


class _WireCall(msgspec.Struct):
    id: Any = None
    function: _WireFunction | None = None


class _WireMessage(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_WireCall] | None = None


class _WireLine(msgspec.Struct):
    """One line; the last one is `done` and has the counts."""

    message: _WireMessage | None = None
    done: Any = False
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: Any = None


class FromWire(reply.ReplyReader):
    """Translates the lines of one stream, in order."""

    stops = _STOPS

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        super().__init__(request, endpoint, calls)
        self._drafts: list[reply.CallDraft] = []
        self._text = ReplyText()

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        line = decode_payload(_WireLine, payload, self._endpoint)
        if line.error:
            raise providers.errors.classify_in_stream(line.error, self._endpoint)
        if line.done:
            self.ended, self._stop = True, reply.read_word(line.done_reason)
            counts = (max(0, reply.read_number(sent) or 0) for sent in (line.prompt_eval_count, line.eval_count))
            self._usage = Usage(*counts)
        return tuple(self._translate(line.message)) if line.message else ()

    def _last(self) -> Iterable[ModelEvent]:
        return self._text.end()

    def _translate(self, message: _WireMessage) -> Iterable[ModelEvent]:
        yield from self._text.add(message.thinking or "", message.content or "")
        for call in message.tool_calls or ():
            function = call.function or _WireFunction()
            draft = reply.CallDraft(id=self._ids.claim(reply.read_word(call.id)), name=function.name or "")
            draft.pieces.append(bytes(function.arguments).decode("utf-8", "replace"))
            self._drafts.append(draft)
            yield from draft.preview()

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        thoughts, words = self._text.whole()
        if thoughts:
            yield Thinking(thoughts, provider=self._endpoint.vendor.name)
        if words:
            yield Text(words)
        yield from reply.finish_calls(self._drafts, self._ids, stop)
