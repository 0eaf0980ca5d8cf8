"""The pace at which the tasks of a process ask a model: what its server refuses to one of them, all of them know."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from halocline.protocol.errors import ModelError, ModelErrorKind

MINUTE = 60.0
REFUSED_WAIT = 1.0
"""Seconds that all wait after a refusal for which the server names no time."""
_TOO_MANY = frozenset({ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOADED})
_RECOVERY = 0.95
"""What an answer makes of the distance between two requests."""
_LEAST_GAP = 0.01


class Pace:
    """Lets the requests to a model begin one after the other, as fast as its server takes them.

    At most `per_minute` begin within a minute; 0 is no limit. When the server refuses one as too many, none begins
    before the time that it names, and then they keep the distance at which it took those of the last minute; each
    answer shortens that. A request without company waits for neither, as its own retries wait already.
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
        self._per_minute = per_minute
        self._now = now
        self._sleep = sleep
        self._line = asyncio.Lock()
        self._company = 0
        self._begun, self._refused = deque[float](), deque[float]()
        self._gap = 0.0
        self._not_before = self._slowed_at = float("-inf")

    @asynccontextmanager
    async def turn(self, *, at_once: bool = False) -> AsyncIterator[None]:
        """Wait until a request may begin, unless it begins `at_once`, and learn from how it ends."""
        self._company += 1
        try:
            if not at_once:
                async with self._line:
                    while (left := self._count_seconds()) > 0:
                        await self._sleep(left)
                    began = self._note(self._begun)
            else:
                began = self._note(self._begun)
            yield
            self.has_answered = True
            self._gap = shorter if (shorter := self._gap * _RECOVERY) > _LEAST_GAP else 0.0
        except ModelError as error:
            if error.kind in _TOO_MANY and not error.waits_long:
                self._slow_down(began, error.retry_after or REFUSED_WAIT)
            raise
        finally:
            self._company -= 1

    def _count_seconds(self) -> float:
        """Return the seconds that the next request still has to wait."""
        now = self._now()
        _forget(self._begun, now - MINUTE)
        moment = now
        if self._company > 1:
            moment = max(moment, self._not_before, self._begun[-1] + self._gap if self._begun else moment)
        if self._per_minute and len(self._begun) >= self._per_minute:
            moment = max(moment, self._begun[-int(max(1, self._per_minute))] + MINUTE)
        return moment - now

    def _slow_down(self, began: float, wait: float) -> None:
        """Let all wait, and keep distance. Those that were under way when it was slowed down tell nothing new."""
        now = self._note(self._refused)
        self._not_before = max(self._not_before, now + wait)
        if began > self._slowed_at:
            _forget(self._begun, now - MINUTE)
            _forget(self._refused, now - MINUTE)
            taken = len(self._begun) - len(self._refused)
            self._gap = max(self._gap, MINUTE / max(1, taken))
            self._slowed_at = now

    def _note(self, moments: deque[float]) -> float:
        moments.append(now := self._now())
        return now


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


def _forget(moments: deque[float], before: float) -> None:
    while moments and moments[0] <= before:
        moments.popleft()
