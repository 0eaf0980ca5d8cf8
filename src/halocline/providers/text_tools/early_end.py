"""Replies with calls in their text, ended with the first call that acts: where that may be, and what the reply cost."""

import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from halocline.context.token_estimate import estimate_tokens, request_tokens
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import events as ev, messages as msg
from halocline.protocol.errors import ModelError
from halocline.protocol.patterns import compile_later
from halocline.providers.catalog.models import FREE, ModelInfo, cost_of
from halocline.providers.reply import CALL_ENDINGS, KIND

_BRACKETS = compile_later(r"\\.|[\"{}\[\]()]", re.DOTALL)
_HEAD, _TAIL = 400, 100
_READ_AGAIN = 40


class TextReply:
    """One reply as it comes. `is_over` once it holds a call that does more than read."""

    def __init__(self) -> None:
        self.text = self.thoughts = ""
        self.is_over = False

    def hear(self, delta: ev.TextDelta) -> Iterable[ModelEvent]:
        """Take text; return what to pass on."""
        raise NotImplementedError

    def finish(self, event: ev.AssistantMessageCompleted) -> tuple[Iterable[ModelEvent], ev.AssistantMessageCompleted]:
        """Return what was not passed on yet, and the message with its calls. Raises ModelError."""
        raise NotImplementedError


class TextCalls:
    """A model around another one. Where a reply's price is not known by the token, it ends with a call that acts."""

    may_end = True

    def __init__(self, model: Model, info: ModelInfo) -> None:
        self.model = model
        self.name = model.name
        self._info = info

    def _begin(self, request: Request) -> TextReply:
        raise NotImplementedError

    def _ask(self, request: Request) -> Request:
        return request

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        reply = self._begin(request)
        usage: tuple[ev.UsageReported, ...] = ()
        last: ev.AssistantMessageCompleted | None = None
        ends_early = self.may_end and self._info.prices in (None, FREE.prices)
        try:
            async with aclosing(self.model.stream(self._ask(request))) as events:
                async for event in events:
                    match event:
                        case ev.TextDelta():
                            for shown in reply.hear(event):
                                yield shown
                            if reply.is_over and ends_early:
                                usage = (_estimate_usage(request, reply.text, self._info),)
                                break
                        case ev.ThinkingDelta():
                            reply.thoughts += event.text
                            yield event
                        case ev.UsageReported():
                            usage = (event,)
                        case ev.StepRetried():
                            for spent in usage:
                                yield spent
                            yield event
                            reply, usage = self._begin(request), ()
                        case ev.AssistantMessageCompleted():
                            last = event
                        case _:
                            yield event
            rest, made = reply.finish(last or self._end(reply))
        except ModelError:
            for spent in usage:
                yield spent
            raise
        for event in (*rest, *usage, made):
            yield event

    def _end(self, reply: TextReply) -> ev.AssistantMessageCompleted:
        """Return the reply so far as a whole one."""
        parts = (msg.Thinking(reply.thoughts), msg.Text(reply.text))
        return ev.AssistantMessageCompleted(msg.AssistantMessage(tuple(part for part in parts if part.text), self.name))

    async def close(self) -> None:
        await self.model.close()


class CallEnd:
    """Tells cheaply, as a reply grows, where a whole call may end in it: a call is read again only there.

    A call in tags may end with a tag that closes one, any other where its brackets are closed. So that the work stays
    linear whatever the text, it is read at most some times as long as it is.
    """

    def __init__(self, names: str) -> None:
        self._opening = re.compile(rf"<(?:{names or '(?!)'})>|<{KIND}param(?:eter)?\b|<{KIND}arg_key")
        self._closing = re.compile(
            rf"(?:</{KIND}(?:{names}|invoke|function|function_calls?|tool_calls?|tool_use)>|[|｜]>)\Z"
        )
        self._begin = self._counted = self._depth = self._read = 0
        self._in_quotes = False

    def may_be_here(self, text: str, begin: int) -> bool:
        """True if a call that begins there, or later, may end with the text."""
        if begin != self._begin:
            self._begin = self._counted = begin
            self._depth, self._in_quotes = 0, False
        self._count_brackets(text)
        tail = text[-_TAIL:].rstrip()
        if begin == len(text) or not tail.endswith(CALL_ENDINGS):
            return False
        is_closed = self._closing.search(tail) or (
            not self._opening.search(text, begin, begin + _HEAD) and self._depth <= 0
        )
        if not is_closed or self._read > _READ_AGAIN * (len(text) + _HEAD * _HEAD):
            return False
        self._read += len(text)
        return True

    def _count_brackets(self, text: str) -> None:
        for found in _BRACKETS.finditer(text, self._counted):
            sign = found[0]
            if sign == '"':
                self._in_quotes = not self._in_quotes
            elif not self._in_quotes and sign[0] != "\\":
                self._depth += 1 if sign in "{[(" else -1
        self._counted = len(text.rstrip("\\"))  # what the last one escapes may follow


def _estimate_usage(request: Request, text: str, info: ModelInfo) -> ev.UsageReported:
    """Estimate the usage of a reply with this text."""
    usage = msg.Usage(input=request_tokens(request), output=estimate_tokens(text))
    return ev.UsageReported(usage, cost_of(info, usage), info.window)
