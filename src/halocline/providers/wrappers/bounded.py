"""Stop a reply that stalls or does not end, even if the server keeps the connection open; time its first output.

What must stay true: pings, comments and blank lines do not count as progress, and a reply's memory is bounded.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta, UsageReported


class Bounded:
    """A model with bounded replies: `first` and `quiet` in seconds, `largest` in characters.

    `first` is the wait for the first output of a reply, `quiet` for each later one; `largest` counts text, thinking
    and calls together.
    """

    def __init__(self, model: Model, first: float, quiet: float, largest: int) -> None:
        self.model = model
        self.name = model.name
        self._first = first
        self._quiet = quiet
        self._largest = largest

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        size, patience, clock = 0, self._first, asyncio.get_running_loop().time
        began, first_token = clock(), None
        try:
            async with asyncio.timeout(patience) as limit, aclosing(self.model.stream(request)) as events:
                async for event in events:
                    limit.reschedule(None)  # what the reader of the reply takes does not count
                    patience = self._quiet
                    size += _event_size(event)
                    if first_token is None and size:
                        first_token = round(clock() - began, 3)
                    if size > self._largest:
                        raise _too_long(self.name, self._largest)
                    yield replace(event, first_token=first_token) if isinstance(event, UsageReported) else event
                    limit.reschedule(clock() + patience)
        except TimeoutError:
            raise _nothing_new(self.name, patience) from None

    async def close(self) -> None:
        await self.model.close()


def _event_size(event: ModelEvent) -> int:
    match event:
        case TextDelta() | ThinkingDelta():
            return len(event.text)
        case ToolCallDelta():
            return len(event.arguments)
    return 0


def _nothing_new(model: str, seconds: float) -> ModelError:
    text = f"{model} sent nothing for {seconds:g} s, although the connection is open."
    hint = "Try again, or choose another model with -m. To wait longer, raise the setting quiet_timeout."
    return ModelError(ModelErrorKind.STALLED, text, hint)


def _too_long(model: str, largest: int) -> ModelError:
    text = f"{model} exceeded {largest:,} characters in one reply and was stopped."
    hint = "Ask for less at once, or choose another model with -m. To allow more, raise the setting max_reply."
    return ModelError(ModelErrorKind.TOO_LONG, text, hint)
