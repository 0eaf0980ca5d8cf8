"""A model whose server is asked, while it answers, for what nobody else knows: its window and its prices.

What must stay true: no request waits for it, and a server that says nothing costs one short wait at a reply's end. It
is asked when the reply has begun: by then a local server has loaded the model, and knows how much room it gave it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import UsageReported
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, cost_of
from halocline.providers.endpoint import Endpoint

PATIENCE = 0.4
"""Seconds for which the end of a reply waits for the answer."""
MOST_QUESTIONS = 3
"""A local server knows more once the model is loaded; one that still knows nothing then is left in peace."""


def wants_to_know(at: Endpoint) -> bool:
    """The window or the price is unknown, and the server speaks a family in which it can be asked."""
    missing = at.info.window is None or at.info.prices is None
    return missing and at.family in ("openai_chat", "openai_responses")


class Informed:
    """Passes on what `model` says, which is at `at`; a report of usage gets the facts that it lacks."""

    def __init__(self, model: Model, at: Endpoint) -> None:
        self.model = model
        self._at = at
        self._asking: asyncio.Task[ModelInfo] | None = None
        self._asked = 0

    @property
    def name(self) -> str:
        return self.model.name

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        # Models are async generators: only those promise to close what is left early.
        asked = cast(AsyncGenerator[ModelEvent, None], self.model.stream(request))
        async with aclosing(asked) as events:
            async for event in events:
                if self._asking is None and self._asked < MOST_QUESTIONS:
                    self._asked += 1
                    self._asking = asyncio.create_task(self._ask())
                yield await self._completed(event) if isinstance(event, UsageReported) else event

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
        await self.model.close()

    async def _ask(self) -> ModelInfo:
        from halocline.providers.catalog.server_probe import ask_server, fill_info

        return fill_info(self._at.info, await ask_server(self._at))

    async def _completed(self, event: UsageReported) -> UsageReported:
        info = await self._answer()
        price = cost_of(info, event.usage) if event.cost is None else event.cost
        return replace(event, cost=price, window=event.window or info.window)

    async def _answer(self) -> ModelInfo:
        """What was heard so far. A server that did not know is asked again with the next request, a few times."""
        if self._asking is None:
            return UNKNOWN
        done, _ = await asyncio.wait({self._asking}, timeout=PATIENCE)
        if not done:
            return UNKNOWN
        info = self._asking.result()
        if info.window is None:
            self._asking = None
        return info
