"""A model whose server is asked for its window and prices while it answers.

What must stay true: no request waits for it, and a silent server costs one short wait at a reply's end. It is asked
once the reply has begun: by then a local server has loaded the model and knows its context size.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from halocline import providers
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import UsageReported
from halocline.protocol.waiting import end_tasks
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, cost_of
from halocline.providers.endpoint import Endpoint

PATIENCE = 0.4
"""Seconds that the end of a reply waits for the answer."""
MOST_QUESTIONS = 3
"""Attempts: a local server knows more once the model is loaded, but may never know."""


def wants_to_know(at: Endpoint) -> bool:
    """True if the window or the price is unknown and the server's API family can be asked."""
    missing = at.info.window is None or at.info.prices is None
    return missing and at.family in ("openai_chat", "openai_responses", "ollama")


async def ask_info(at: Endpoint) -> ModelInfo:
    """Return what is known of a model, completed by its server."""
    return providers.server_probe.fill_info(at.info, await providers.server_probe.ask_server(at))


class Informed:
    """Passes on the events of `model`, which is at `at`; usage reports get the missing facts."""

    def __init__(self, model: Model, at: Endpoint) -> None:
        self.model = model
        self.name = model.name
        self._at = at
        self._asking: asyncio.Task[ModelInfo] | None = None
        self._asked = 0

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                if self._asking is None and self._asked < MOST_QUESTIONS:
                    self._asked += 1
                    self._asking = asyncio.create_task(ask_info(self._at))
                yield await self._complete_usage(event) if isinstance(event, UsageReported) else event

    async def close(self) -> None:
        await end_tasks(self._asking)
        await self.model.close()

    async def _complete_usage(self, event: UsageReported) -> UsageReported:
        info = await self._answer()
        price = cost_of(info, event.usage) if event.cost is None else event.cost
        return replace(event, cost=price, window=event.window or info.window)

    async def _answer(self) -> ModelInfo:
        """Return the facts known so far. A server that did not know is asked again on the next few requests."""
        asking = self._asking
        if asking is None:
            return UNKNOWN
        if not (asking.done() or (await asyncio.wait({asking}, timeout=PATIENCE))[0]):
            return UNKNOWN
        info = asking.result()
        if info.window is None and self._asking is asking:  # another request may have asked again meanwhile
            self._asking = None
        return info
