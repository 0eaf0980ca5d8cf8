"""The pace at which the tasks of a process ask a model: what its server refuses to one of them, all of them know."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from halocline.protocol.errors import ModelError, ModelErrorKind

MINUTE = 60.0
REFUSED_WAIT = 1.0
"""Seconds that all wait after a refusal for which the server names no time."""
_TOO_MANY = frozenset({ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOADED})
_CROWD = 10.0
"""Seconds after a refusal in which others say nothing new."""
_FIRST_GAP = 0.1
_LONGER, _SHORTER = 1.5, 0.97
"""Factors of the distance between two requests, for a refusal and for an answer."""


class Pace:
    """Lets the requests to a model begin one after the other, as fast as its server takes them.

    At most `per_minute` begin within a minute; 0 is no limit. When the server refuses one as too many, none begins
    before the time that it names, and then they keep a distance, which grows with each refusal and shrinks with each
    answer. A request without company waits for neither, as its own retries wait already.
    """

    def __init__(
        self,
        per_minute: float = 0,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.has_answered = False
        """True once the server answered any of the tasks: it is there and knows the model."""
        self._most = max(1, int(per_minute)) if per_minute else 0
        self._within = MINUTE / min(1, per_minute or 1)
        """Seconds in which so many may begin: a minute, or with a part of a request in a minute, longer."""
        self._now = now
        self.sleep = sleep
        self.line = asyncio.Lock()
        self._company = 0
        self.came = self.gone = 0
        """Requests that lined up so far, and those of them that left the line: they began, or were given up."""
        self._begun = deque[float]()
        self._gap = 0.0
        self._not_before = self._slowed_at = float("-inf")

    @asynccontextmanager
    async def turn(self) -> "AsyncIterator[Place]":
        """Line up with a request, which begins by its place, and learn from how it ends."""
        self._company += 1
        place = Place(self)
        try:
            yield place
            self.has_answered = True
            self._gap = shorter if (shorter := self._gap * _SHORTER) > _FIRST_GAP / 2 else 0.0
        except ModelError as error:
            if error.kind in _TOO_MANY and not error.waits_long:
                self._slow_down(error.retry_after or REFUSED_WAIT)
            raise
        finally:
            place.end()
            self._company -= 1

    def begin(self) -> None:
        """Note that a request begins."""
        self._begun.append(self._now())

    def count_seconds(self, ahead: int = 0) -> float:
        """Return the seconds until a request may begin that has so many `ahead`, if nothing is refused meanwhile."""
        now = self._now()
        while self._begun and self._begun[0] <= now - self._within:
            self._begun.popleft()
        begun, moment = [*self._begun], now
        for _ in range(ahead + 1):
            moment = self._find_next(begun, moment)
            begun.append(moment)
        return moment - now

    def _find_next(self, begun: Sequence[float], moment: float) -> float:
        """Return when the next request may begin after these, at `moment` at the earliest."""
        if self._company > 1:
            moment = max(moment, self._not_before, begun[-1] + self._gap if begun else moment)
        if self._most and len(begun) >= self._most:
            moment = max(moment, begun[-self._most] + self._within)
        return moment

    def _slow_down(self, wait: float) -> None:
        """Let all wait, and keep more distance. Refusals soon after that are of the same crowd and tell nothing."""
        now = self._now()
        self._not_before = max(self._not_before, now + wait)
        if now - self._slowed_at > _CROWD:
            self._gap = min(MINUTE, max(_FIRST_GAP, self._gap * _LONGER))
            self._slowed_at = now


class Place:
    """The place of a request in the line of a pace."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._number = pace.came
        self._is_first = self._is_left = False
        pace.came += 1

    def count_seconds(self) -> float:
        """Return about how long the request still waits; 0 only if it may begin now."""
        return self._pace.count_seconds(max(0, self._number - self._pace.gone))

    async def wait(self) -> None:
        """Wait until the request may begin, in the order of those that lined up. The line stays here until it does."""
        await self._pace.line.acquire()
        self._is_first = True
        while (left := self._pace.count_seconds()) > 0:
            await self._pace.sleep(left)

    def begin(self) -> None:
        """Begin now, also before those in line."""
        self._pace.begin()
        self.end()

    def end(self) -> None:
        """Leave the line, once."""
        if self._is_first:
            self._is_first = False
            self._pace.line.release()
        if not self._is_left:
            self._is_left = True
            self._pace.gone += 1


class Paces:
    """The paces of a process, by the name of the model."""

    def __init__(self) -> None:
        self._known: dict[str, Pace] = {}

    def find(self, model: str, rates: Mapping[str, float]) -> Pace:
        """Return the pace of a model. `rates` are requests per minute by provider, for all of its models together."""
        provider = model.partition("/")[0]
        name = provider if provider in rates else model
        if name not in self._known:
            self._known[name] = Pace(rates.get(provider, 0))
        return self._known[name]
