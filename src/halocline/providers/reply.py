"""Assembly of a reply, shared by all wire formats: tool calls and the reply's last two events.

Arguments that are not one complete JSON object are never repaired: the call keeps the text as `malformed`. Of an object
that was sent more than once, or beside an empty one, one is taken.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice

import msgspec

from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input, messages as msg
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, ToolCallDelta, UsageReported
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers.catalog.models import cost_of
from halocline.providers.endpoint import Endpoint

NO_NAME = "unnamed"
END_MARK = b"[DONE]"
"""The last payload of a stream, in many formats."""
CALL_ENDINGS = (">", "`", "]", "}", ")", '"')
"""Last characters of a call that was printed as text."""
KIND = r"(?:\w{1,20}[:|]|[|｜]\w{1,20}[|｜])?"
"""What a vendor writes before the names of its tags: `minimax:`, `｜DSML｜`."""
_CUT_BEFORE_ARGUMENTS = "(the reply was cut off before the arguments)"
_ARGUMENTS_APART = "(another call of this reply came without a name, so these arguments may be missing)"
_BEFORE_NAME = ("functions.", "default_api.", "default_api:")
_BEHIND_NAME = compile_later(r":\d+\Z")
_SEAM = compile_later(r"\}\s*(?=\{)")
_MOST_SEAMS = 50


def parse_arguments(text: str) -> JsonObject | None:
    """Parse a call's arguments; None when they are not one complete JSON object. Empty text means no arguments."""
    return json_input.decode_or(None, text, JsonObject) if text.strip() else {}


def _parse_copies(text: str) -> JsonObject | None:
    """Return the one object that complete objects in a row say, beside empty ones; None when they differ."""
    found: JsonObject = {}
    begin = 0
    for end in (*(seam.end() for seam in islice(_SEAM.finditer(text), _MOST_SEAMS)), len(text)):
        part = parse_arguments(text[begin:end])
        if part is None:
            continue
        if found and part and part != found:
            return None
        found, begin = found or part, end
    return found if begin == len(text) else None


def plain_name(name: str) -> str:
    """Return a tool's name without the marks that servers leave around it: namespaces, channels, counters."""
    if name.isidentifier():
        return name
    plain = name.partition("<|")[0].strip()
    while before := next((mark for mark in _BEFORE_NAME if plain.startswith(mark)), ""):
        plain = plain.removeprefix(before)
    return _BEHIND_NAME.sub("", plain)


def read_number(sent: object) -> int | None:
    """Read a number of any JSON type: `10.0` and `"10"` are 10. None when it is none."""
    try:
        return int(float(sent)) if isinstance(sent, int | float | str) and not isinstance(sent, bool) else None
    except (ValueError, OverflowError):
        return None


def read_count(document: object, *path: str) -> int:
    """Read a count in a document of any form; 0 where there is none."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return max(0, read_number(document) or 0)


def read_word(sent: object) -> str:
    """Read an id or another short word, which may be a number; empty when it is neither."""
    return str(sent) if isinstance(sent, str | int) and not isinstance(sent, bool) else ""


def read_json_text(sent: object) -> str:
    """Read a call's arguments as JSON text; a few servers send the object itself."""
    return msgspec.json.encode(sent).decode() if isinstance(sent, dict) else sent if isinstance(sent, str) else ""


class CallIds:
    """Gives every call of a task its own id, whatever the server sends. `calls` are those in the request, if known."""

    def __init__(self, request: Request, calls: Collection[str] | None = None) -> None:
        self._request = request
        self._earlier = calls
        self._claimed: set[str] = set()

    def claim(self, wanted: str) -> str:
        """Return `wanted`, or a new id when it is empty or taken."""
        if self._earlier is None:
            self._earlier = answered_calls(self._request.messages)
        is_free = wanted and wanted not in self._claimed and wanted not in self._earlier
        chosen = wanted if is_free else f"call_{os.urandom(12).hex()}"
        self._claimed.add(chosen)
        return chosen


def answered_calls(messages: Iterable[msg.Message]) -> set[str]:
    """Return the calls with results: every call in a request has one, and results are faster to collect."""
    return {message.call for message in messages if isinstance(message, msg.ToolResult)}


class ReplyReader:
    """The part of a stream's reader that all wire formats share: ids for the calls, its end, and what it has cost.

    `ended` is true once the reply is known to be complete: nothing that follows is read. Once it is finished, because
    the server said why it stops, only counts can follow: what fails behind that cannot undo it, and is not waited for.
    `calls` are those in the request, if known. Of a format, `stops` are the reasons to stop that are no usual end,
    `failures` those that are none at all, and `counts` the places where each count may stand. `has_end_mark`: a payload
    of its own ends the stream.
    """

    has_end_mark = False
    stops: Mapping[str, msg.StopReason] = {}
    failures: Mapping[str, ModelErrorKind] = {}
    counts: Mapping[str, Sequence[Sequence[str]]] = {}

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        self.ended = False
        self._endpoint = endpoint
        self._ids = CallIds(request, calls)
        self._most = request.max_tokens
        self._stop = self._why = ""
        self._is_refused = False
        self._counts: dict[str, int] = {}
        self._usage: msg.Usage | None = None
        self._cost: float | None = None

    @property
    def is_finished(self) -> bool:
        return self.ended or bool(self._stop)

    def feed(self, payload: bytes) -> tuple[ModelEvent, ...]:
        """Translate a payload. Raises ModelError for an error in the stream and for invalid data before its end."""
        if self.ended or (self.has_end_mark and payload == END_MARK):
            self.ended = True
            return ()
        is_finished = self.is_finished
        try:
            return self._read(payload)
        except ModelError:
            if not is_finished:
                raise
            return ()

    def _read(self, payload: bytes) -> tuple[ModelEvent, ...]:
        raise NotImplementedError

    def _grow(self, **counts: int) -> dict[str, int]:
        """Add counts to those of the reply, which only grow: some servers end with zeros. Return all."""
        self._counts |= {name: max(count, self._counts.get(name, 0)) for name, count in counts.items()}
        return self._counts

    def _count(self, sent: object) -> None:
        """Count what was told so far, where the format says. A prompt includes cached tokens, which are subtracted."""
        if not isinstance(sent, dict):
            return
        told = {kind: max(read_count(sent, *path) for path in paths) for kind, paths in self.counts.items()}
        counts = self._grow(**told)
        prompt, output, reasoning = counts["prompt"] + counts.get("in_tools", 0), counts["output"], counts["reasoning"]
        whole = prompt + output + reasoning
        if counts.get("total", whole) == whole:
            output += reasoning  # formats without a total, and some servers of others, do not count it as output
        self._usage = make_usage(prompt, output, counts["cached"], counts.get("written", 0), reasoning)

    @property
    def is_paused(self) -> bool:
        """True if the server wants to be asked to go on."""
        return False

    @property
    def _reason(self) -> str:
        """Why the server stopped, without the cause that Google appends."""
        return self._stop.partition(":")[0]

    def _failure(self) -> ModelErrorKind | None:
        """Return the kind of failure that the reason stands for, if any."""
        return self.failures.get(self._reason)

    def _last(self) -> Iterable[ModelEvent]:
        """Return what was held back until the end."""
        return ()

    def parts(self, stop: msg.StopReason) -> Iterable[msg.AssistantPart]:
        """Return the content of the message."""
        raise NotImplementedError

    def finish(self) -> tuple[ModelEvent, ...]:
        """Return what was held back, usage and message. Raises ModelError when the reply is incomplete or empty."""
        who = self._endpoint.vendor.title
        if not (self.ended or self._stop):
            raise _describe_failure("broken_off", who=who)
        reason = ": ".join(filter(None, (self._stop, self._why)))
        if kind := self._failure():
            raise _describe_failure("failed", kind, who=who, reason=reason)
        rest, stop = tuple(self._last()), self._true_stop()
        content = tuple(self.parts(stop))
        if not (says_something(content) or stop is msg.StopReason.REFUSAL or self.is_paused):
            raise empty_reply(who, stop)
        is_explained = self.stops.get(self._reason) is msg.StopReason.REFUSAL and reason != "refusal"
        why = f"{who} refused to answer ({reason})." if is_explained else ""
        message = msg.AssistantMessage(content=content, model=self._endpoint.name, stop_reason=stop, refusal=why)
        # Of a server that reports no usage, the cost is known only if it is a local one.
        cost = 0.0 if self._endpoint.vendor.is_free else None
        usage = self.spent() or UsageReported(usage=msg.Usage(), cost=cost, window=self._endpoint.info.window)
        return (*rest, usage, AssistantMessageCompleted(message=message))

    def _true_stop(self) -> msg.StopReason:
        """Return why the reply ended: some servers call one finished that is a refusal, or that hit its limit."""
        if self._is_refused:
            return msg.StopReason.REFUSAL
        stop = self.stops.get(self._reason, msg.StopReason.END_TURN)
        is_full = self._most is not None and self._usage is not None and self._usage.output >= self._most
        return msg.StopReason.MAX_TOKENS if is_full and stop is msg.StopReason.END_TURN else stop

    def spent(self) -> UsageReported | None:
        """Return the usage so far, with its cost; None if the server reported nothing or only zeros."""
        if self._usage is None or not self._usage.total:
            return None
        cost = price_usage(self._endpoint, self._usage, self._cost)
        return UsageReported(usage=self._usage, cost=cost, window=self._endpoint.info.window)


class CallDraft(msgspec.Struct):
    """A call being streamed. `sent_id` is the server's, `id` ours: the same unless that one was taken.

    `opaque` are the server's own fields, to send back as they came.
    """

    sent_id: str = ""
    id: str = ""
    name: str = ""
    pieces: list[str] = []
    shown: int = 0
    opaque: JsonObject = {}

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def is_whole(self) -> bool:
        """True if it has arguments, and they are complete."""
        return bool(self.pieces) and parse_arguments(self.arguments) is not None

    def preview(self) -> tuple[ModelEvent, ...]:
        """Return the arguments not shown yet, once the call's id and name are known."""
        fresh = "".join(self.pieces[self.shown :])
        if not (fresh and self.id and self.name):
            return ()
        self.shown = len(self.pieces)
        return (ToolCallDelta(call=self.id, name=plain_name(self.name) or NO_NAME, arguments=fresh),)

    def finish(self, ids: CallIds, unsure: str = "") -> msg.ToolCall:
        """Return the call. `unsure` says why arguments that are empty may be missing."""
        text = self.arguments
        arguments = parse_arguments(text)
        if arguments is None:
            arguments = _parse_copies(text)
        malformed = text if arguments is None else "" if arguments else unsure
        make = partial(msg.ToolCall, id=self.id or ids.claim(""), name=plain_name(self.name) or NO_NAME)
        return make(malformed=malformed) if malformed else make(arguments=arguments or {})


def finish_calls(drafts: Sequence[CallDraft], ids: CallIds, stop: msg.StopReason) -> list[msg.ToolCall]:
    """Finish all calls of a reply, in order. Only the last one can have been cut by the token limit.

    A call without a name holds what belongs to another one, so calls without arguments beside it are not to run.
    """
    apart = "" if all(plain_name(draft.name) for draft in drafts) else _ARGUMENTS_APART
    cut = _CUT_BEFORE_ARGUMENTS if stop is msg.StopReason.MAX_TOKENS else ""
    last = drafts[-1] if drafts else None
    return [draft.finish(ids, apart or cut * (draft is last and not draft.arguments.strip())) for draft in drafts]


def make_usage(prompt: int, output: int, cached: int, written: int, reasoning: int) -> msg.Usage:
    """Return the usage of a request whose prompt includes cached tokens."""
    return msg.Usage(max(0, prompt - cached - written), output, cached, written, reasoning)


def says_something(content: Sequence[msg.AssistantPart]) -> bool:
    """True for an answer, and for thoughts that may hold a printed call: `Correcting` judges these."""
    thoughts = "".join(part.text for part in content if isinstance(part, msg.Thinking))
    return is_answer(content) or any(mark in thoughts for mark in CALL_ENDINGS)


def is_answer(content: Sequence[msg.AssistantPart]) -> bool:
    """True for a reply with text or a call."""
    return any(isinstance(part, msg.ToolCall) or (isinstance(part, msg.Text) and part.text.strip()) for part in content)


def price_usage(endpoint: Endpoint, usage: msg.Usage, stated_cost: float | None = None) -> float | None:
    """Return the cost of a request in US dollars, whatever brings its model; None if it is unknown.

    The cost that the server or a plug-in states takes precedence over all but the user's own prices.
    """
    price = cost_of(endpoint.info, usage)
    return stated_cost if price is None or (stated_cost is not None and not endpoint.own_prices) else price


def empty_reply(who: str, stop: msg.StopReason) -> ModelError:
    """The error for a reply with neither text nor a call."""
    is_cut = stop is msg.StopReason.MAX_TOKENS
    return _describe_failure("nothing_before_limit" if is_cut else "empty", who=who)


def _describe_failure(name: str, kind: ModelErrorKind | None = None, **facts: str) -> ModelError:
    from halocline.providers.errors import describe_failure  # only what fails needs it

    return describe_failure(name, kind, **facts)
