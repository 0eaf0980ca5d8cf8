"""Retry when a model fails in a way that may pass: up to three times, with growing waits."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from itertools import count
from math import ceil

from msgspec.structs import replace

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried
from halocline.protocol.messages import Note, UserMessage
from halocline.protocol.waiting import end_tasks
from halocline.providers.wrappers.pace import Pace, Place

WAITS = (2.0, 4.0, 8.0)
# A server that is down or misnamed seldom recovers within seconds; a network that just changed does.
MOST_RETRIES = {ModelErrorKind.UNREACHABLE: 1}
EACH_MINUTE = 60.0
"""Seconds between retries while waiting out an outage."""
OUTAGES = frozenset(
    {
        ModelErrorKind.NETWORK,
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.OVERLOADED,
        ModelErrorKind.SERVER,
        ModelErrorKind.RATE_LIMIT,
        ModelErrorKind.STALLED,
    }
)
NOTED = 2.0
"""Seconds of a wait in line that a person is told of."""
IN_LINE = "Waiting for the provider's limit"
_SPREAD = 0.25
_EMPTY = "Your reply had neither text nor a call. Go on; if all is done, say what you did."
_WAS_EMPTY = UserMessage((Note(_EMPTY, "reply"),))
"""Goes with the next attempt: the same request would bring the same reply where a server draws nothing at random."""


def _random_share() -> float:
    from random import random

    return random()


class Retrying:
    """Retries `model`, once per wait and no more often than `MOST_RETRIES` allows.

    Before each wait it yields `StepRetried`, which voids everything streamed so far. Waits are in seconds, with a
    jitter of a quarter either way so that many clients do not come back at once; a server's `Retry-After` is the
    minimum. Errors that a retry cannot fix (key, quota, context, request) are raised at once. When a person skips the
    wait (`ask_now`), the same `StepRetried` comes again with a wait of 0.

    While no one watches (`is_watched` is asked after each failure), a model that has answered before, if only another
    task, is retried once a minute, up to `patience` seconds in all for one request. One that never answered is probably
    misnamed. A wait of more than five minutes that the server asks for ends the attempts, unless no one watches and the
    patience covers it. All tasks that share a `pace` know what the server refused to one of them; a request that waits
    for its place among theirs yields a `StepRetried` with the attempt 0, and that wait can be skipped, too.
    """

    def __init__(
        self,
        model: Model,
        *,
        waits: tuple[float, ...] = WAITS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Callable[[], float] = _random_share,
        patience: float = 0.0,
        is_watched: Callable[[], bool] = lambda: False,
        pace: Pace | None = None,
    ) -> None:
        self._model = model
        self._pace = pace or Pace()
        self.name = model.name
        self._waits = waits
        self._sleep = sleep
        self._random = random
        self._minutes = int(patience // EACH_MINUTE)
        self._is_watched = is_watched
        self._waiting: set[asyncio.Future[None]] = set()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        minutes, asked, hurried = 0, request, False
        for attempt in count(1):
            try:
                async with self._pace.turn() as place:
                    if not hurried and place.count_seconds() > 0:
                        async with aclosing(self._wait_in_line(place)) as waits:
                            async for noted in waits:
                                yield noted
                    place.begin()
                    async with aclosing(self._model.stream(asked)) as events:
                        async for event in events:
                            yield event
                return
            except ModelError as error:
                most = self._max_retries(error)
                if attempt <= most:
                    wait = self._pause(self._waits[attempt - 1], error)
                elif minutes + (due := _minutes_asked(error)) <= self._minutes and self._is_waited_out(error):
                    minutes += due
                    wait, most = self._pause(EACH_MINUTE, error), attempt + self._minutes - minutes
                else:
                    raise
                if error.kind is ModelErrorKind.EMPTY:
                    asked = replace(request, messages=(*request.messages, _WAS_EMPTY))
                unbilled = error.is_unbilled
                retried = StepRetried(attempt=attempt, wait=wait, cause=error.text, most=most, unbilled=unbilled)
            yield retried
            if hurried := await self._is_hurried(retried.wait):
                yield replace(retried, wait=0.0)

    def _is_waited_out(self, error: ModelError) -> bool:
        passes = error.kind in OUTAGES or error.waits_long
        return self._pace.has_answered and passes and not self._is_watched()

    def ask_now(self) -> bool:
        """End the current waits. False when there is none."""
        waiting = [one for one in self._waiting if not one.done()]
        for one in waiting:
            one.set_result(None)
        return bool(waiting)

    async def _wait_in_line(self, place: Place) -> AsyncGenerator[StepRetried, None]:
        """Wait for the place of a request at the pace of all, and yield each wait that a person may want to skip."""
        waiting, hurried = asyncio.ensure_future(place.wait()), asyncio.get_running_loop().create_future()
        self._waiting.add(hurried)
        noted: StepRetried | None = None
        try:
            while not (waiting.done() or hurried.done()):
                if (left := round(place.count_seconds(), 1)) > NOTED:
                    noted = StepRetried(attempt=0, wait=left, cause=IN_LINE, unbilled=True)
                    yield noted
                first = asyncio.FIRST_COMPLETED
                await asyncio.wait([waiting, hurried], timeout=max(left, NOTED), return_when=first)
            if noted and not waiting.done():
                yield replace(noted, wait=0.0)
        finally:
            self._waiting.discard(hurried)
            await end_tasks(waiting)

    async def _is_hurried(self, seconds: float) -> bool:
        """Wait; return True if a person ended the wait."""
        hurried = asyncio.get_running_loop().create_future()
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        self._waiting.add(hurried)
        try:
            await asyncio.wait([hurried, sleeping], return_when=asyncio.FIRST_COMPLETED)
            return hurried.done()
        finally:
            self._waiting.discard(hurried)
            sleeping.cancel()

    async def close(self) -> None:
        await self._model.close()

    def _max_retries(self, error: ModelError) -> int:
        """Return how often this failure is worth a retry."""
        if error.waits_long:
            return 0
        return min(len(self._waits), MOST_RETRIES.get(error.kind, len(self._waits))) if error.retryable else 0

    def _pause(self, wait: float, error: ModelError) -> float:
        spread = wait * (1 + _SPREAD * (2 * self._random() - 1))
        return round(max(spread, error.retry_after or 0.0), 2)


def _minutes_asked(error: ModelError) -> int:
    """Return how many minutes of patience the next wait takes."""
    return ceil((error.retry_after or 0.0) / EACH_MINUTE) if error.waits_long else 1
