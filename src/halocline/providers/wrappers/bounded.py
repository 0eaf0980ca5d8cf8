"""Stop a reply that stalls or does not end, even if the server keeps the connection open; time its first output.

What must stay true: pings, comments and blank lines do not count as progress, and a reply's memory is bounded.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from halocline import providers
from halocline.ports.model import Model, ModelEvent, Request
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
        size, patience = 0, self._first
        began, first_token = time.monotonic(), None
        async with aclosing(self.model.stream(request)) as events:
            while (event := await self._next(events, patience)) is not None:
                patience = self._quiet
                size += _event_size(event)
                if first_token is None and size:
                    first_token = round(time.monotonic() - began, 3)
                if size > self._largest:
                    raise providers.errors.describe_failure("too_long", who=self.name, largest=self._largest)
                yield replace(event, first_token=first_token) if isinstance(event, UsageReported) else event

    async def close(self) -> None:
        await self.model.close()

    async def _next(self, events: AsyncGenerator[ModelEvent, None], patience: float) -> ModelEvent | None:
        try:
            async with asyncio.timeout(patience):
                return await anext(events, None)
        except TimeoutError:
            raise providers.errors.describe_failure("quiet", who=self.name, seconds=patience) from None


def _event_size(event: ModelEvent) -> int:
    match event:
        case TextDelta() | ThinkingDelta():
            return len(event.text)
        case ToolCallDelta():
            return len(event.arguments)
    return 0
