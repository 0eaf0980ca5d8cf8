"""Assembly of a reply, shared by all wire formats: tool calls and the reply's last two events.

Arguments that are not one complete JSON object are never repaired: the call keeps the text as `malformed`.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from functools import partial

import msgspec

from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, ToolCallDelta, UsageReported
from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from halocline.protocol.values import JsonObject
from halocline.providers.catalog.models import cost_of
from halocline.providers.endpoint import Endpoint

_CUT_BEFORE_ARGUMENTS = "(the reply was cut off before the arguments)"
_NO_NAME = "unnamed"

_decode_object = json_input.Decoder(JsonObject).decode


def parse_arguments(text: str) -> JsonObject | None:
    """Parse a call's arguments; None when they are not one complete JSON object. Empty text means no arguments."""
    if not text.strip():
        return {}
    try:
        return _decode_object(text)
    except msgspec.DecodeError:
        return None


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


def answered_calls(messages: Iterable[Message]) -> set[str]:
    """Return the calls with results: every call in a request has one, and results are faster to collect."""
    return {message.call for message in messages if isinstance(message, ToolResult)}


class ReplyReader:
    """The part of a stream's reader that all wire formats share: ids for the calls, and what the reply has cost.

    `ended` is true once the reply is known to be complete. `calls` are those in the request, if known.
    """

    def __init__(self, request: Request, endpoint: Endpoint, calls: Collection[str] | None = None) -> None:
        self.ended = False
        self._endpoint = endpoint
        self._ids = CallIds(request, calls)
        self._most = request.max_tokens
        self._usage: Usage | None = None
        self._cost: float | None = None

    def spent(self) -> UsageReported | None:
        """Return the usage so far, if the server reported any."""
        return report_usage(self._endpoint, self._usage, self._cost)


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

    def preview(self) -> tuple[ModelEvent, ...]:
        """Return the arguments not shown yet, once the call's id and name are known."""
        fresh = "".join(self.pieces[self.shown :])
        if not (fresh and self.id and self.name):
            return ()
        self.shown = len(self.pieces)
        return (ToolCallDelta(call=self.id, name=self.name, arguments=fresh),)

    def finish(self, ids: CallIds, cut: bool) -> ToolCall:
        """Return the call. `cut`: the reply may have ended inside it."""
        text = self.arguments
        arguments = parse_arguments(text)
        malformed = text if arguments is None else ""
        if cut and not text.strip():
            malformed = _CUT_BEFORE_ARGUMENTS
        make = partial(ToolCall, id=self.id or ids.claim(""), name=self.name or _NO_NAME)
        return make(malformed=malformed) if malformed else make(arguments=arguments or {})


def finish_calls(drafts: Sequence[CallDraft], ids: CallIds, stop: StopReason) -> list[ToolCall]:
    """Finish all calls of a reply, in order. Only the last one can have been cut by the token limit."""
    cut = stop is StopReason.MAX_TOKENS
    return [draft.finish(ids, cut and draft is drafts[-1]) for draft in drafts]


def true_stop_reason(stop: StopReason, usage: Usage | None, most: int | None) -> StopReason:
    """Correct the stop reason: some servers report a reply as finished although it hit `most`, its limit in tokens."""
    cut = most is not None and usage is not None and usage.output >= most
    return StopReason.MAX_TOKENS if cut and stop is StopReason.END_TURN else stop


def last_events(
    endpoint: Endpoint,
    parts: Iterable[AssistantPart],
    stop: StopReason,
    usage: UsageReported | None,
    *,
    may_say_nothing: bool = False,
    refused_for: str = "",
) -> tuple[ModelEvent, ...]:
    """Return the usage and the whole message. `refused_for` is the server's reason for a refusal.

    Raises:
        ModelError: the reply has neither text nor a call, although it should.
    """
    content = tuple(parts)
    says = any(isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip()) for part in content)
    if not says and stop is not StopReason.REFUSAL and not may_say_nothing:
        raise _empty_reply(endpoint, stop)
    is_explained = refused_for and stop is StopReason.REFUSAL
    why = f"{endpoint.vendor.title} refused to answer ({refused_for})." if is_explained else ""
    message = AssistantMessage(content=content, model=endpoint.name, stop_reason=stop, refusal=why)
    return (usage or _unreported_usage(endpoint), AssistantMessageCompleted(message=message))


def report_usage(endpoint: Endpoint, usage: Usage | None, stated_cost: float | None = None) -> UsageReported | None:
    """Return an attempt's usage and cost; None when the server reported nothing or only zeros.

    The cost that the server states takes precedence over all but the user's own prices.
    """
    if usage is None or not usage.total:
        return None
    price = cost_of(endpoint.info, usage)
    if price is None or (stated_cost is not None and not endpoint.own_prices):
        price = stated_cost
    return UsageReported(usage=usage, cost=price, window=endpoint.info.window)


def _unreported_usage(endpoint: Endpoint) -> UsageReported:
    """Usage for a server that reports none; its cost is known only for local models, which are free."""
    return UsageReported(usage=Usage(), cost=0.0 if endpoint.vendor.local else None, window=endpoint.info.window)


def _empty_reply(endpoint: Endpoint, stop: StopReason) -> ModelError:
    if stop is StopReason.MAX_TOKENS:
        text = f"{endpoint.vendor.title} reached the reply's token limit before writing anything."
        return ModelError(ModelErrorKind.TOO_LONG, text, "Lower the effort (/effort), or choose another model with -m.")
    text = f"{endpoint.vendor.title} sent an empty reply."
    return ModelError(ModelErrorKind.EMPTY, text, "Try again; if it keeps happening, choose another model with -m.")
