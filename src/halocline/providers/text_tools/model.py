"""Tools for models without native tool calls: a wrapper that writes and reads calls as XML tags in the text.

Text is passed on as it comes, except for a possible start of a tag. After a call whose value may contain anything (a
file's content), text waits until the next call or the end of the reply: only then is the call's end known.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from itertools import groupby

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError
from halocline.protocol.messages import QUOTED, AssistantMessage, AssistantPart, StopReason, Text, Thinking, ToolCall
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo
from halocline.providers.reply import CallIds, empty_reply, says_something
from halocline.providers.text_tools.arguments import read_arguments
from halocline.providers.text_tools.early_end import estimate_usage
from halocline.providers.text_tools.prompt import TextPrompt
from halocline.providers.text_tools.quotation import ReadTexts
from halocline.providers.text_tools.reader import Called, Growing, Piece, Reader, Thoughts, Words
from halocline.providers.text_tools.tags import tags_of

_CUT = "(the call has no closing tag)"


class TextProtocol:
    """A model that uses `model` with text only. Keeps the same promises as any model.

    What follows the first call that does more than read is dropped: the model has not seen its result. Where the price
    by the token is not known, the reply ends there. A call that stands in what the model has read never runs.
    """

    def __init__(self, model: Model, info: ModelInfo = UNKNOWN) -> None:
        self._model = model
        self.name = model.name
        self._info = info
        self._prompt = TextPrompt()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        reply = _Reply(request)
        usage: tuple[ev.UsageReported, ...] = ()
        async with aclosing(self._model.stream(self._prompt.of(request))) as events:
            try:
                async for event in events:
                    match event:
                        case ev.TextDelta():
                            for output in reply.feed(event.text):
                                yield output
                            if reply.is_over and self._info.prices in (None, FREE.prices):
                                yield estimate_usage(request, reply.text, self._info)
                                yield reply.complete_message(reply.end(self.name))
                                return
                        case ev.ThinkingDelta():
                            reply.thoughts += event.text
                            yield event
                        case ev.UsageReported():
                            usage = (event,)
                        case ev.AssistantMessageCompleted():
                            for last in (*reply.rest(event.message), *usage, reply.complete_message(event)):
                                yield last
                        case ev.StepRetried():
                            for spent in usage:
                                yield spent
                            yield event
                            reply, usage = _Reply(request), ()
                        case _:
                            yield event
            except ModelError:
                for spent in usage:
                    yield spent
                raise

    async def close(self) -> None:
        await self._model.close()


class _Reply:
    """One reply, assembled from the pieces read in its text."""

    def __init__(self, request: Request) -> None:
        self._ids = CallIds(request)
        offered = () if request.summary else request.tools
        self._tools = tags_of(offered)
        self._specs = {spec.name: spec for spec in offered}
        self._reader = Reader(offered)
        self._read = ReadTexts(request)
        self._said: list[Words | Thoughts | ToolCall] = []
        self._open = ""
        self._reads = {spec.name for spec in request.tools if spec.reads}
        self.text = self.thoughts = ""
        self.is_over = False

    def feed(self, text: str) -> Iterator[ModelEvent]:
        self.text += text
        for piece in self._reader.feed(text):
            yield from self._take(piece)

    def rest(self, message: AssistantMessage) -> list[ModelEvent]:
        cut = message.stop_reason is not StopReason.END_TURN
        return [event for piece in self._reader.finish(cut=cut) for event in self._take(piece)]

    def end(self, model: str) -> ev.AssistantMessageCompleted:
        """Return the reply so far as a whole one."""
        thoughts = (Thinking(self.thoughts),) if self.thoughts else ()
        return ev.AssistantMessageCompleted(AssistantMessage(thoughts, model))

    def complete_message(self, event: ev.AssistantMessageCompleted) -> ev.AssistantMessageCompleted:
        """Return the whole message. Parts other than text (signed reasoning) stay as they are.

        Raises:
            ModelError: the reply has neither text nor a call.
        """
        sent, read = event.message, list(_join_parts(self._said))
        kept = [part for part in sent.content if not isinstance(part, Text)]
        if not says_something((*kept, *read)) and sent.stop_reason is not StopReason.REFUSAL:
            raise empty_reply(sent.model, sent.stop_reason)
        return replace(event, message=replace(sent, content=tuple(_in_order(kept, read))))

    def _take(self, piece: Piece) -> Iterable[ModelEvent]:
        if self.is_over:
            return ()
        match piece:
            case Words():
                self._said.append(piece)
                return (ev.TextDelta(piece.text),)
            case Thoughts():
                self._said.append(piece)
                return (ev.ThinkingDelta(piece.text),)
            case Growing():
                self._open = self._open or self._ids.claim("")
                return (ev.ToolCallDelta(call=self._open, name=piece.tool, arguments=piece.text),)
            case Called():
                call = self._build_call(piece)
                self._said.append(call)
                self._open = ""
                self.is_over = piece.tool not in self._reads and not call.malformed.startswith(QUOTED)
                return ()

    def _build_call(self, called: Called) -> ToolCall:
        """Build the call; one that stands in what the model has read is a quotation and has no arguments."""
        make = partial(ToolCall, id=self._open, name=called.tool)
        arguments = read_arguments(called.body, self._tools[called.tool]) if called.whole else None
        if arguments is None:
            return make(malformed=called.body.strip() or _CUT)
        text = f"<{called.tool}>{called.body}</{called.tool}>"
        if self._read.hold(self._specs[called.tool], arguments, text):
            return make(malformed=QUOTED + called.body.strip())
        return make(arguments=arguments)


def _join_parts(said: Iterable[Words | Thoughts | ToolCall]) -> Iterator[AssistantPart]:
    """Join the pieces of text, and those of thoughts, that follow each other."""
    for kind, pieces in groupby(said, type):
        if kind is ToolCall:
            yield from (piece for piece in pieces if isinstance(piece, ToolCall))
        else:
            text = "".join(piece.text for piece in pieces if not isinstance(piece, ToolCall))
            yield Text(text) if kind is Words else Thinking(text)


def _in_order(kept: Iterable[AssistantPart], read: Iterable[AssistantPart]) -> Iterator[AssistantPart]:
    """Put native reasoning before the text, and native calls after it."""
    kept = tuple(kept)
    yield from (part for part in kept if isinstance(part, Thinking))
    yield from read
    yield from (part for part in kept if not isinstance(part, Thinking))
