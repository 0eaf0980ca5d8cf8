"""Take a call that a model printed, at the end of its reply or of its thoughts, for the call that it is.

It passes the same gate as every call. As the model has not seen any result yet, what follows the first call that does
more than read is dropped. A call that stands in what the model has read is a quotation and never runs. One that may be
an example (below much text, behind words of its line, above words in thoughts, or of a model that called natively in
this task) does not run before the model repeats it alone. Of a model that is known to print its calls, text that may
be one is not shown, and where a reply's price is not known by the token, the reply ends with that call.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import events as ev, messages as msg
from halocline.protocol.patterns import compile_later
from halocline.providers import text_tools
from halocline.providers.catalog.models import UNKNOWN, ModelInfo
from halocline.providers.reply import CALL_ENDINGS, CallIds, empty_reply, is_answer
from halocline.providers.text_tools.early_end import CallEnd, TextCalls, TextReply

if TYPE_CHECKING:
    from halocline.providers.text_tools.printed_calls import Printed, Reading
    from halocline.providers.text_tools.quotation import ReadTexts

_MAY_BEGIN = (
    r"^[ \t]*(?:[`{\[<\]*]|\w+\(|>>>|to=|[\w.>]*\Z|(?:%s)\b"
    r"|(?i:action|assistant|call|commentary|analysis|functools|function|name|tool))"
    r"|<\||<｜|<tool|<function|\[TOOL|\]<\]"
)
_MADE_UP = compile_later(r"\n[ \t]*Observation:.*", re.DOTALL)
_PIECES = compile_later(r"[^}\])>`]*[}\])>`]+|[^}\])>`]+")
_MUCH_TEXT = 1_500
"""Characters before a call above which it may be an example, unless the model is known to print its calls."""


class Correcting(TextCalls):
    """Passes on the events of `model`, with the printed calls made. `on_printed` is called when it printed one."""

    def __init__(
        self,
        model: Model,
        info: ModelInfo = UNKNOWN,
        *,
        prints: bool = False,
        on_printed: Callable[[], None] = lambda: None,
        is_in_text: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(model, info)
        self.may_end = prints
        self._on_printed = on_printed
        self._is_in_text = is_in_text

    def _begin(self, request: Request) -> "_Reply":
        """Begin a reply. A summary is text, whatever it shows."""
        request = replace(request, tools=()) if request.summary else request
        calls_otherwise = not (self.may_end or self._is_in_text()) and self._has_called(request)
        return _Reply(request, self._note_printed, prints=self.may_end, calls_otherwise=calls_otherwise)

    def _has_called(self, request: Request) -> bool:
        """True if this model made calls in this task."""
        replies = (one for one in request.messages if isinstance(one, msg.AssistantMessage) and one.model == self.name)
        return any(not call.malformed for one in replies for call in one.tool_calls)

    def _note_printed(self) -> None:
        self.may_end = True
        self._on_printed()


class _Reply(TextReply):
    """One reply: its text, how much of it was passed on, and its thoughts."""

    def __init__(
        self, request: Request, on_printed: Callable[[], None], *, prints: bool, calls_otherwise: bool
    ) -> None:
        super().__init__()
        self._request = request
        self._on_printed = on_printed
        self._prints = prints
        self._calls_otherwise = calls_otherwise
        self._reads = {spec.name for spec in request.tools if spec.reads}
        self._shown = 0

    @cached_property
    def _names(self) -> str:
        return "|".join(re.escape(spec.name) for spec in self._request.tools)

    @cached_property
    def _may_begin(self) -> re.Pattern[str]:
        return re.compile(_MAY_BEGIN % self._names, re.MULTILINE)

    @cached_property
    def _end(self) -> CallEnd:
        return CallEnd(self._names)

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
            self.is_over = self._is_whole()

    def _is_whole(self) -> bool:
        """True if the text so far ends with a call that does more than read, and that cannot become a longer one."""
        if not self._end.may_be_here(self.text, self._shown) or not (found := self._read(self.text)):
            return False
        acts = [call for call in found.calls if call.tool not in self._reads]
        is_open = self.text.rstrip().endswith(">") and any(
            text_tools.tags.WHOLE & (one.arguments or {}).keys() for one in acts
        )
        is_whole = bool(acts) and not is_open and all(call.arguments is not None for call in acts)
        return is_whole and not self._find_doubt(found)

    def finish(self, event: ev.AssistantMessageCompleted) -> tuple[Iterable[ModelEvent], ev.AssistantMessageCompleted]:
        """Raise ModelError if the reply is nothing but thoughts."""
        made, said = self._make_calls(event), event.message
        if made is event and not is_answer(said.content) and said.stop_reason is not msg.StopReason.REFUSAL:
            raise empty_reply(said.model, said.stop_reason)
        if made is not event and not any(call.malformed for call in made.message.tool_calls):
            self._on_printed()
        text, shown = made.message.text, self.text[: self._shown]
        rest = text[self._shown :] if text.startswith(shown) else ""
        return [ev.TextDelta(rest)] if rest else [], made

    def _make_calls(self, event: ev.AssistantMessageCompleted) -> ev.AssistantMessageCompleted:
        """Return the event with its printed calls made; the same one if there are none."""
        message = event.message
        thoughts = "".join(part.text for part in message.content if isinstance(part, msg.Thinking))
        text = (self.is_over and self.text) or _cut_made_up(message.text) or _cut_behind_call(thoughts)
        if message.tool_calls or not text.rstrip().endswith(CALL_ENDINGS):
            return event
        if not (found := self._read(text)):
            return self._ask_for_known(event, text)
        doubt = self._find_doubt(found, is_above_words=not message.text and text != thoughts.rstrip())
        others = [part for part in message.content if doubt or not isinstance(part, msg.Text)]
        shown = self.text[: self._shown]
        said = shown if shown.strip() == found.before else found.before
        before = [msg.Text(said)] if found.before and message.text and not doubt else []
        ids = CallIds(self._request)
        calls = [_make_call(call, ids.claim(""), doubt) for call in self._first_calls(found.calls)]
        return replace(event, message=replace(message, content=(*others, *before, *calls)))

    def _ask_for_known(self, event: ev.AssistantMessageCompleted, text: str) -> ev.AssistantMessageCompleted:
        """Return a reply that is only the call of a tool that is not there as that call, unless it is said again."""
        tools, replies = self._request.tools, [m for m in self._request.messages if isinstance(m, msg.AssistantMessage)]
        if not tools or self._request.output_schema is not None:
            return event
        call = text_tools.printed_calls.read_unknown(text)
        if call is None or any(one.name == call.tool for reply in replies[-1:] for one in reply.tool_calls):
            return event
        made = msg.ToolCall(CallIds(self._request).claim(""), call.tool, call.arguments or {})
        others = tuple(part for part in event.message.content if not isinstance(part, msg.Text))
        return replace(event, message=replace(event.message, content=(*others, made)))

    def _read(self, text: str) -> "Reading | None":
        return text_tools.printed_calls.read_printed(
            text, self._request.tools, bare=self._request.output_schema is None
        )

    def _find_doubt(self, found: "Reading", *, is_above_words: bool = False) -> str:
        """Return the mark of calls that are not run, as the model may only quote or show them; empty for real ones."""
        specs = {spec.name: spec for spec in self._request.tools}
        if any(self._read_texts.hold(specs[call.tool], call.arguments or {}, call.text) for call in found.calls):
            return msg.QUOTED
        is_below_much = len(found.before) > _MUCH_TEXT and not self._prints
        may_be_shown = found.inline or is_above_words or is_below_much or self._calls_otherwise
        return msg.PRINTED if may_be_shown and not self._is_repeated(found) else ""

    def _is_repeated(self, found: "Reading") -> bool:
        """True if the reply is nothing but the call that the reply before showed, which it was told to send alone."""
        replies = [one for one in self._request.messages if isinstance(one, msg.AssistantMessage)]
        shown = {call.name for one in replies[-1:] for call in one.tool_calls if call.malformed.startswith(msg.PRINTED)}
        return not found.before.strip() and {call.tool for call in found.calls} <= shown

    @cached_property
    def _read_texts(self) -> "ReadTexts":
        return text_tools.quotation.ReadTexts(self._request)

    def _first_calls(self, calls: "Sequence[Printed]") -> "Sequence[Printed]":
        """Return the calls up to the first that does more than read."""
        acts = next((at for at, call in enumerate(calls, start=1) if call.tool not in self._reads), len(calls))
        return calls[:acts]


def _cut_made_up(text: str) -> str:
    """Leave out what a model says in the place of a result, where it writes actions and observations in turn."""
    return _MADE_UP.sub("", text) if "Action Input:" in text else text


def _cut_behind_call(thoughts: str) -> str:
    """Leave out what follows the last mark in thoughts that may end a call."""
    return thoughts[: max(thoughts.rfind(mark) + len(mark) for mark in CALL_ENDINGS)]


def _make_call(call: "Printed", id: str, doubt: str) -> msg.ToolCall:
    if doubt or call.arguments is None:
        return msg.ToolCall(id, call.tool, malformed=doubt + call.text)
    return msg.ToolCall(id, call.tool, call.arguments)
