"""Why a provider's cache missed: the requests of a log are built again, and each compared with the one before it. Pure.

A cache holds prefixes. What a request has in common with the one before it could have been read from there; when far
less was, either something changed before that point, which is named, or nothing did.
"""

from collections.abc import Callable, Iterable, Sequence

from halocline.context.compaction.stale_files import LEFT_OUT
from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.events import (
    AssistantMessageCompleted,
    Compacted,
    CompactionUndone,
    DurableEvent,
    StepStarted,
    UsageReported,
)
from halocline.protocol.messages import AssistantMessage, Message, Note, ToolResult, Usage
from halocline.protocol.queries.usage import CacheMiss, CacheReport, Rates
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

SMALLEST = 2_048
"""Tokens of a request from which on it is looked at; vendors cache nothing below 1,024 or so."""
SHARE = 0.5
"""Less than this of the earlier request from the cache is a miss."""
LIFETIME = 300
"""Seconds for which most vendors keep what nobody asks for again."""
OUTDATED = LEFT_OUT.partition("{")[0]
"""How a result begins that was left out, as there is a newer copy."""


class _Made(Value, frozen=True):
    """A request, how many tokens went in, and when it was answered."""

    request: Request
    read: int
    at: float


def cache_report(
    events: Iterable[DurableEvent],
    request_of: Callable[[State], Request],
    rates_of: Callable[[str], Rates | None],
) -> CacheReport:
    """How the requests of a log used the cache. `request_of` builds the one that is made in a state."""
    state, step, now, last, shortened = State(), 0, None, None, False
    read = cached = 0
    misses: list[CacheMiss] = []
    for event in events:
        match event:
            case StepStarted():
                now, step = request_of(state), step + 1
            case AssistantMessageCompleted():
                now = None  # until the next step, requests are for summaries
            case Compacted() | CompactionUndone():
                shortened = True
            case UsageReported(usage=usage) if size := _cached_tokens(usage):
                read, cached = read + size, cached + usage.cache_read
                if now is not None:
                    if last is not None and _is_miss(last, usage):
                        misses.append(_explain_miss(last, now, event, step, rates_of(now.model), shortened=shortened))
                    last, shortened = _Made(now, size, event.at), False
            case _:
                pass
        state = reduce_event(state, event)
    return CacheReport(requests=step, read=read, cached=cached, misses=tuple(misses))


def _cached_tokens(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write


def _is_miss(last: _Made, usage: Usage) -> bool:
    return last.read >= SMALLEST and usage.cache_read < SHARE * last.read


def _explain_miss(
    last: _Made, now: Request, event: UsageReported, step: int, rates: Rates | None, *, shortened: bool
) -> CacheMiss:
    cached = event.usage.cache_read
    lost = max(0, min(last.read, _cached_tokens(event.usage)) - cached)
    extra = None if rates is None else lost * (rates.input - rates.cached) / 1_000_000
    why = first_change(last.request, now) or _describe_pause(event.at - last.at)
    if shortened and why.startswith("message "):
        why = "the conversation was compacted, or that was undone"
    return CacheMiss(step, event.at, now.model, last.read, cached, why, extra)


def _describe_pause(seconds: float) -> str:
    if seconds < LIFETIME:
        return f"nothing changed here, {seconds:.0f} s after the last request: the provider dropped it"
    minutes = f"{seconds / 60:.0f} minutes"
    return f"nothing changed here: it expired (last request {minutes} ago), or the provider dropped it"


def first_change(last: Request, now: Request) -> str:
    """What differs first, in the order in which vendors build a prompt; empty when `now` only goes on from `last`."""
    if last.model != now.model:
        return f"the model changed from {last.model} to {now.model}, which has a cache of its own"
    if last.tools != now.tools:
        return _other_tool(last.tools, now.tools)
    if last.system != now.system:
        return "the system prompt changed"
    if last.output_schema != now.output_schema:
        return "the form that the answer has to have changed"
    if (last.effort, last.thinking_budget) != (now.effort, now.thinking_budget):
        return "how hard the model should think changed"
    return _other_message(last.messages, now.messages)


def _other_tool(last: Sequence[ToolSpec], now: Sequence[ToolSpec]) -> str:
    before, after = {spec.name for spec in last}, {spec.name for spec in now}
    for old, new in zip(last, now, strict=False):
        if old != new:
            if old.name == new.name:
                return f"the tool {new.name} changed"
            if new.name not in before:
                return f"the tool {new.name} was added"
            return f"the tool {old.name} {'moved' if old.name in after else 'was taken away'}"
    if len(now) > len(last):
        return f"the tool {now[len(last)].name} was added"
    return f"the tool {last[len(now)].name} was taken away"


def _other_message(last: Sequence[Message], now: Sequence[Message]) -> str:
    for at, (old, new) in enumerate(zip(last, now, strict=False)):
        if old is not new and old != new:
            if isinstance(new, ToolResult) and new.text.startswith(OUTDATED):
                return "outdated copies of files were left out, many at once"
            return f"message {at + 1} of {len(last)} changed ({_kind_of(old)})"
    if len(now) < len(last):
        return f"message {len(now) + 1} of {len(last)} was taken away ({_kind_of(last[len(now)])})"
    return ""


def _kind_of(message: Message) -> str:
    if isinstance(message, AssistantMessage):
        return "a reply"
    if isinstance(message, ToolResult):
        return "the result of a call"
    notes = [part.source for part in message.content if isinstance(part, Note)]
    return f"a note: {notes[0]}" if len(notes) == len(message.content) and notes else "a prompt"
