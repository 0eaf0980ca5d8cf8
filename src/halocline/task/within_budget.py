"""A model whose requests are within the limits of a task and its sub-agents: each attempt is reserved and settled.

What must stay true: every reservation is settled exactly once, whatever ends the request. An attempt that was sent and
not reported counts at its most: what a provider bills for a reply that was cut off, no one can know here.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError
from halocline.protocol.events import StepRetried, UsageReported
from halocline.protocol.messages import Usage
from halocline.task.spending import Reservation, Spending


class WithinBudget:
    """Implements `ports.model.Model` with another one, which is asked only for what fits."""

    def __init__(self, model: Model, spending: Spending) -> None:
        self._model = model
        self._spending = spending

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        return self._stream(request) if self._spending.is_limited else self._model.stream(request)

    async def close(self) -> None:
        await self._model.close()

    async def _stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        attempt = _Attempt(self._spending, await self._spending.reserve(request, request.model))
        request = self._spending.cap(request, attempt.made)
        try:
            async with aclosing(self._model.stream(request)) as events:
                async for event in events:
                    if isinstance(event, StepRetried):
                        attempt = await self._next_attempt(attempt, request, event)
                    else:
                        attempt.note(event)
                    yield event
        except ModelError as error:
            attempt.end(unbilled=error.is_unbilled)
            raise
        finally:
            attempt.end()

    async def _next_attempt(self, attempt: "_Attempt", request: Request, retried: StepRetried) -> "_Attempt":
        """Settle an attempt that failed, and reserve the next one before it is sent. Raises OverBudget."""
        if attempt.is_hurried(retried):
            return attempt
        attempt.end(unbilled=retried.unbilled)
        made = await self._spending.reserve(request, retried.model or attempt.made.model, whole=True)
        return _Attempt(self._spending, made, retried)


class _Attempt:
    """One attempt of a request, since `retried`."""

    def __init__(self, spending: Spending, made: Reservation, retried: StepRetried | None = None) -> None:
        self.made = made
        self._spending = spending
        self._retried = retried
        self._sent_at = asyncio.get_running_loop().time() + (retried.wait if retried else 0.0)
        self._has_begun = False
        self._usage: Usage | None = None
        self._cost: float | None = 0.0

    def note(self, event: ModelEvent) -> None:
        """Take note of what the attempt gave."""
        self._has_begun = True
        if isinstance(event, UsageReported) and event.usage.total:
            self._usage = (self._usage or Usage()) + event.usage
            self._cost = None if event.cost is None or self._cost is None else self._cost + event.cost

    def is_hurried(self, retried: StepRetried) -> bool:
        """True if a person only ended the wait before this attempt."""
        is_same = self._retried is not None and retried == replace(self._retried, wait=0.0)
        if is_same and not self._has_begun:
            self._sent_at = 0.0
        return is_same and not self._has_begun

    def end(self, *, unbilled: bool = False) -> None:
        """Settle the attempt, once. One that was cut off while it waited was not sent."""
        waits = not self._has_begun and asyncio.get_running_loop().time() < self._sent_at
        self._spending.settle(self.made, self._usage, self._cost, unbilled=waits or (unbilled and not self._has_begun))
