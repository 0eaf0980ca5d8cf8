"""Take a call that a model printed, at the end of its reply or of its thoughts, for the call that it is.

It passes the same gate as every call. As the model has not seen any result yet, what follows the first call that does
more than read is dropped. A call that stands in what the model was given, or below much other text, counts as quoted:
it is not run, and the model is told how to call. Of a model that is known to print its calls, text that may be one is
not shown, and where a reply's price is not known by the token, the reply ends with that call.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import events as ev, messages as msg
from halocline.providers import text_tools
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo
from halocline.providers.reply import CALL_ENDINGS, CallIds, empty_reply, is_answer
from halocline.providers.text_tools.early_end import estimate_usage

if TYPE_CHECKING:
    from halocline.providers.text_tools.printed_calls import Printed, Reading

_MAY_BEGIN = r"^[ \t]*(?:[`{\[<]|\w+\(|>>>|Action:|[\w.>]*\Z|(?:%s)\b)|<\||<｜|<tool|<function|\[TOOL"
_PIECES = re.compile(r"[^}\])>`]*[}\])>`]+|[^}\])>`]+")
_MUCH_TEXT = 1_500
"""Characters before a call above which it may be an example, unless the model is known to print its calls."""


class Correcting:
    """Passes on the events of `model`, with the printed calls made. `on_printed` is called when it printed one."""

    def __init__(
        self,
        model: Model,
        info: ModelInfo = UNKNOWN,
        *,
        prints: bool = False,
        on_printed: Callable[[], None] = lambda: None,
    ) -> None:
        self.model = model
        self.name = model.name
        self._info = info
        self._prints = prints
        self._on_printed = on_printed

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        reply = _Reply(request, prints=self._prints)
        may_end = self._prints and self._info.prices in (None, FREE.prices)
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                match event:
                    case ev.TextDelta():
                        for words in reply.hear(event):
                            yield words
                        if reply.is_over and may_end:
                            yield estimate_usage(request, reply.text, self._info)
                            event = reply.end(self.name)
                    case ev.ThinkingDelta():
                        reply.thoughts += event.text
                        yield event
                    case ev.StepRetried():
                        reply = _Reply(request, prints=self._prints)
                        yield event
                    case ev.AssistantMessageCompleted():
                        pass
                    case _:
                        yield event
                if isinstance(event, ev.AssistantMessageCompleted):
                    for last in self._finish(reply, event):
                        yield last
                    return
            for last in self._finish(reply, reply.end(self.name)):
                yield last

    def _finish(self, reply: "_Reply", event: ev.AssistantMessageCompleted) -> Iterator[ModelEvent]:
        """Yield the end of a reply. Raises ModelError if it is nothing but thoughts."""
        made, said = reply.finish(event), event.message
        if made is event and not is_answer(said.content) and said.stop_reason is not msg.StopReason.REFUSAL:
            raise empty_reply(said.model, said.stop_reason)
        if made is not event:
            self._prints = True
            self._on_printed()
        if rest := reply.unshown(made.message.text):
            yield ev.TextDelta(rest)
        yield made

    async def close(self) -> None:
        await self.model.close()


class _Reply:
    """One reply: its text, how much of it was passed on, and its thoughts."""

    def __init__(self, request: Request, *, prints: bool) -> None:
        self._request = request
        self._prints = prints
        self._shown = 0
        names = "|".join(re.escape(spec.name) for spec in request.tools) if prints else ""
        self._may_begin = re.compile(_MAY_BEGIN % (names or "(?!)"), re.MULTILINE)
        self.text = ""
        self.is_over = False
        self.thoughts = ""

    def hear(self, delta: ev.TextDelta) -> Iterator[ev.TextDelta]:
        """Take text; yield it, but for what may be a call of a model that prints them, and what follows one."""
        if not (self._prints and self._request.tools):
            self.text += delta.text
            self._shown = len(self.text)
            yield delta
            return
        for piece in _PIECES.findall(delta.text):
            if self.is_over:
                return
            self.text += piece
            begun = self._may_begin.search(self.text, self._shown)
            end = begun.start() if begun else len(self.text)
            if end > self._shown:
                yield replace(delta, text=self.text[self._shown : end])
                self._shown = end
            self.is_over = self._is_whole(piece)

    def unshown(self, text: str) -> str:
        """Return what of the final text was not passed on."""
        shown = self.text[: self._shown]
        return text[self._shown :] if text.startswith(shown) else ""

    def _is_whole(self, fresh: str) -> bool:
        """True if the text so far ends with a call that does more than read, and that cannot become a longer one."""
        if self._shown == len(self.text) or not fresh.rstrip().endswith(CALL_ENDINGS):
            return False
        found = self._read(self.text)
        acts = [call for call in found.calls if not _reads(call.tool, self._request.tools)] if found else []
        is_open = self.text.rstrip().endswith(">") and any(
            {"content", "diff"} & (one.arguments or {}).keys() for one in acts
        )
        return bool(acts) and not is_open and all(call.arguments is not None for call in acts)

    def end(self, model: str) -> ev.AssistantMessageCompleted:
        """Return the reply so far as a whole one."""
        parts = (msg.Thinking(self.thoughts), msg.Text(self.text))
        content = tuple(part for part in parts if part.text)
        return ev.AssistantMessageCompleted(msg.AssistantMessage(content, model))

    def finish(self, event: ev.AssistantMessageCompleted) -> ev.AssistantMessageCompleted:
        """Return the event with its printed calls made; the same one if there are none."""
        message = event.message
        text = (
            (self.is_over and self.text)
            or message.text
            or _cut_behind_call("".join(part.text for part in message.content if isinstance(part, msg.Thinking)))
        )
        if message.tool_calls or not _ends_like_call(text) or not (found := self._read(text)):
            return event
        is_quoted = self._is_quoted(found)
        others = [part for part in message.content if is_quoted or not isinstance(part, msg.Text)]
        shown = self.text[: self._shown]
        said = shown if shown.strip() == found.before else found.before
        before = [msg.Text(said)] if found.before and message.text and not is_quoted else []
        ids = CallIds(self._request)
        calls = [_make_call(call, ids.claim(""), quoted=is_quoted) for call in self._first_calls(found.calls)]
        return replace(event, message=replace(message, content=(*others, *before, *calls)))

    def _read(self, text: str) -> "Reading | None":
        return text_tools.printed_calls.read_printed(
            text, self._request.tools, bare=self._request.output_schema is None
        )

    def _is_quoted(self, found: "Reading") -> bool:
        if len(found.before) > _MUCH_TEXT and not self._prints:
            return True
        given = (m for m in self._request.messages if isinstance(m, msg.UserMessage | msg.ToolResult))
        texts = [part.text for message in given for part in message.content if isinstance(part, msg.Text | msg.Note)]
        return text_tools.printed_calls.is_quotation(found.calls, texts, self._request.tools)

    def _first_calls(self, calls: "Sequence[Printed]") -> "Sequence[Printed]":
        """Return the calls up to the first that does more than read."""
        tools = self._request.tools
        acts = next((at for at, call in enumerate(calls, start=1) if not _reads(call.tool, tools)), len(calls))
        return calls[:acts]


def _reads(tool: str, tools: Sequence[ToolSpec]) -> bool:
    return any(spec.reads for spec in tools if spec.name == tool)


def _ends_like_call(text: str) -> bool:
    return text.rstrip().endswith(CALL_ENDINGS)


def _cut_behind_call(thoughts: str) -> str:
    """Leave out what follows the last mark in thoughts that may end a call."""
    return thoughts[: max(thoughts.rfind(mark) for mark in CALL_ENDINGS) + 1]


def _make_call(call: "Printed", id: str, *, quoted: bool) -> msg.ToolCall:
    if quoted:
        return msg.ToolCall(id, call.tool, malformed=msg.PRINTED + call.text)
    if call.arguments is None:
        return msg.ToolCall(id, call.tool, malformed=call.text)
    return msg.ToolCall(id, call.tool, call.arguments)
