"""What all wire formats share when a reply is put together: odd tool calls, and the reply's two last events.

Arguments that are not one complete JSON object are never repaired: the call keeps the text as `malformed`.
"""

import os
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, ToolCallDelta, UsageReported
from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
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
    """The arguments a model wrote; None when they are not one complete JSON object. No text at all means none."""
    if not text.strip():
        return {}
    try:
        return _decode_object(text)
    except msgspec.DecodeError:
        return None


class CallIds:
    """Sees to it that no two calls of a task have the same id, whatever the server sends."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._taken: set[str] | None = None

    def claim(self, wanted: str) -> str:
        """`wanted`, or a new id when it is empty or already used."""
        if self._taken is None:
            # Every call of a request has its result, which is found faster.
            self._taken = {message.call for message in self._request.messages if isinstance(message, ToolResult)}
        chosen = wanted if wanted and wanted not in self._taken else f"call_{os.urandom(12).hex()}"
        self._taken.add(chosen)
        return chosen


class CallDraft(msgspec.Struct):
    """A call that is being written. `sent_id` is the server's, `id` ours: the same unless that one was taken."""

    sent_id: str = ""
    id: str = ""
    name: str = ""
    pieces: list[str] = []
    shown: int = 0

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def preview(self) -> tuple[ModelEvent, ...]:
        """What was not shown yet, once it is known what the call is."""
        fresh = "".join(self.pieces[self.shown :])
        if not (fresh and self.id and self.name):
            return ()
        self.shown = len(self.pieces)
        return (ToolCallDelta(call=self.id, name=self.name, arguments=fresh),)

    def finish(self, ids: CallIds, cut: bool) -> ToolCall:
        """The call. `cut` says that the reply ended within it, for all we know."""
        text = self.arguments
        arguments = parse_arguments(text)
        malformed = text if arguments is None else ""
        if cut and not text.strip():
            malformed = _CUT_BEFORE_ARGUMENTS
        make = partial(ToolCall, id=self.id or ids.claim(""), name=self.name or _NO_NAME)
        return make(malformed=malformed) if malformed else make(arguments=arguments or {})


def finish_calls(drafts: Sequence[CallDraft], ids: CallIds, stop: StopReason) -> list[ToolCall]:
    """All calls of a reply, in order. Only the last one can have been cut by the token limit."""
    cut = stop is StopReason.MAX_TOKENS
    return [draft.finish(ids, cut and draft is drafts[-1]) for draft in drafts]


def true_stop_reason(stop: StopReason, usage: Usage | None, most: int | None) -> StopReason:
    """Why a reply ended. Some servers call one finished that is as long as was allowed (`most`, in tokens)."""
    cut = most is not None and usage is not None and usage.output >= most
    return StopReason.MAX_TOKENS if cut and stop is StopReason.END_TURN else stop


def last_events(
    endpoint: Endpoint,
    parts: Iterable[AssistantPart],
    stop: StopReason,
    usage: UsageReported | None,
) -> tuple[ModelEvent, ...]:
    """The usage and the whole message.

    Raises:
        ModelError: the reply says nothing and calls nothing.
    """
    content = tuple(parts)
    says = any(isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip()) for part in content)
    if not says and stop is not StopReason.REFUSAL:
        raise _empty_reply(endpoint, stop)
    message = AssistantMessage(content=content, model=endpoint.name, stop_reason=stop)
    return (usage or _unreported_usage(endpoint), AssistantMessageCompleted(message=message))


def report_usage(endpoint: Endpoint, usage: Usage | None, stated_cost: float | None = None) -> UsageReported | None:
    """What an attempt took; None when the server told nothing, or only noughts.

    What the server says it charged goes before all but a person's own prices.
    """
    if usage is None or not usage.total:
        return None
    price = cost_of(endpoint.info, usage)
    if price is None or (stated_cost is not None and not endpoint.own_prices):
        price = stated_cost
    return UsageReported(usage=usage, cost=price, window=endpoint.info.window)


def _unreported_usage(endpoint: Endpoint) -> UsageReported:
    """Where nothing is told, only what costs nothing anyway has a known price."""
    return UsageReported(usage=Usage(), cost=0.0 if endpoint.vendor.local else None, window=endpoint.info.window)


def _empty_reply(endpoint: Endpoint, stop: StopReason) -> ModelError:
    text = f"{endpoint.vendor.title} sent an empty reply."
    if stop is StopReason.MAX_TOKENS:
        text = f"{endpoint.vendor.title} used up the whole reply before saying anything."
    return ModelError(ModelErrorKind.EMPTY, text, "Try again; if it happens often, choose another model with -m.")
