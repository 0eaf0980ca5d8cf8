"""Tools for models without native tool calls: a wrapper that writes and reads calls as XML tags in the text.

Text is passed on as it comes, except for a possible start of a tag. After a call whose value may contain anything (a
file's content), text waits until the next call or the end of the reply: only then is the call's end known.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import events as ev
from halocline.protocol.messages import QUOTED, AssistantPart, StopReason, Text, Thinking, ToolCall
from halocline.providers.catalog.models import UNKNOWN, ModelInfo
from halocline.providers.reply import CallIds, empty_reply, says_something
from halocline.providers.text_tools.arguments import read_arguments
from halocline.providers.text_tools.early_end import TextCalls, TextReply
from halocline.providers.text_tools.prompt import TextPrompt
from halocline.providers.text_tools.quotation import ReadTexts
from halocline.providers.text_tools.reader import Called, Growing, Piece, Reader, Thoughts, Words
from halocline.providers.text_tools.tags import tags_of

_CUT = "(the call has no closing tag)"


class TextProtocol(TextCalls):
    """A model that uses `model` with text only. Keeps the same promises as any model.

    What follows the first call that does more than read is dropped: the model has not seen its result. A call that
    stands in what the model has read never runs.
    """

    def __init__(self, model: Model, info: ModelInfo = UNKNOWN) -> None:
        super().__init__(model, info)
        self._prompt = TextPrompt()

    def _begin(self, request: Request) -> TextReply:
        return _Reply(request)

    def _ask(self, request: Request) -> Request:
        return self._prompt.of(request)


class _Reply(TextReply):
    """One reply, assembled from the pieces read in its text."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._ids = CallIds(request)
        offered = () if request.summary else request.tools
        self._tools = tags_of(offered)
        self._specs = {spec.name: spec for spec in offered}
        self._reader = Reader(offered)
        self._read = ReadTexts(request)
        self._said: list[Words | Thoughts | ToolCall] = []
        self._open = ""
        self._reads = {spec.name for spec in request.tools if spec.reads}

    def hear(self, delta: ev.TextDelta) -> Iterator[ModelEvent]:
        self.text += delta.text
        for piece in self._reader.feed(delta.text):
            yield from self._take(piece)

    def finish(self, event: ev.AssistantMessageCompleted) -> tuple[Iterable[ModelEvent], ev.AssistantMessageCompleted]:
        cut = event.message.stop_reason is not StopReason.END_TURN
        rest = [late for piece in self._reader.finish(cut=cut) for late in self._take(piece)]
        return rest, self._complete(event)

    def _complete(self, event: ev.AssistantMessageCompleted) -> ev.AssistantMessageCompleted:
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
