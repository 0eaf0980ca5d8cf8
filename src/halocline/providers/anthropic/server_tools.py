"""Tools that Anthropic's server runs itself: their blocks go back as they came, and a paused reply is continued.

Halocline asks for none, but a gateway may add some. Their calls are never ours to run. `Thinking.redacted` holds such a
block as JSON text; the data of redacted thinking never begins with a brace.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol

from msgspec.structs import replace

from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError
from halocline.protocol.events import AssistantMessageCompleted, UsageReported
from halocline.protocol.messages import AssistantMessage, AssistantPart, Thinking
from halocline.protocol.values import JsonObject

MOST_PAUSES = 20
"""Continuations of one reply; after that it counts as cut off."""
_KINDS = re.compile(r"(?:server|mcp)_tool_use|\w+_tool_result")


class Reader(Protocol):
    """Reads one reply."""

    @property
    def is_paused(self) -> bool: ...


Ask = Callable[[Request], tuple[Reader, AsyncGenerator[ModelEvent, None]]]


def is_server_block(kind: str) -> bool:
    """True for the type of a block that belongs to a tool of the server."""
    return _KINDS.fullmatch(kind) is not None


def unseal_block(redacted: str) -> JsonObject | None:
    """Return the server's block; None for the data of redacted thinking."""
    return json_input.decode(redacted, JsonObject) if redacted.startswith("{") else None


async def stream_to_the_end(ask: Ask, request: Request) -> AsyncGenerator[ModelEvent, None]:
    """Yield one reply, asking again while the server pauses it. Its parts become one message. Raises ModelError."""
    content: tuple[AssistantPart, ...] = ()
    spent: UsageReported | None = None
    for pauses in range(MOST_PAUSES + 1):
        asked = replace(request, messages=(*request.messages, AssistantMessage(content))) if content else request
        reader, events = ask(asked)
        try:
            async with aclosing(events):
                async for event in events:
                    match event:
                        case UsageReported():
                            spent = _add_usage(spent, event)
                        case AssistantMessageCompleted():
                            last = event
                            content += event.message.content
                        case _:
                            yield event
        except ModelError:
            if spent:
                yield spent
            raise
        if not reader.is_paused or last.message.tool_calls or pauses == MOST_PAUSES:
            break
    if spent:
        yield spent
    yield replace(last, message=replace(last.message, content=tuple(_without_unanswered(content))))


def _add_usage(before: UsageReported | None, now: UsageReported) -> UsageReported:
    if before is None:
        return now
    cost = None if before.cost is None or now.cost is None else before.cost + now.cost
    return replace(now, usage=before.usage + now.usage, cost=cost)


def _without_unanswered(parts: Iterable[AssistantPart]) -> Iterable[AssistantPart]:
    """Drop the server's calls that have no result: the API refuses them in a later request."""
    parts = list(parts)
    blocks = [(part, unseal_block(part.redacted) if isinstance(part, Thinking) else None) for part in parts]
    answered = {block.get("tool_use_id") for _, block in blocks if block}
    for part, block in blocks:
        if not block or "tool_use_id" in block or block.get("id") in answered:
            yield part
