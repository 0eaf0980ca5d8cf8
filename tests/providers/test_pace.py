import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from tests.providers.streams import collected, request

from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried, TextDelta
from halocline.providers.wrappers.pace import MINUTE, Pace, Paces
from halocline.providers.wrappers.retry import Retrying
from halocline.surfaces.figures import describe_retry


class Clock:
    """A clock that moves on to the next one who wakes once all sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleeping: list[tuple[float, asyncio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        self._sleeping.append((self.now + seconds, woken := asyncio.Event()))
        await woken.wait()

    async def run(self, *tasks: asyncio.Task[None]) -> None:
        while not all(task.done() for task in tasks):
            for _ in range(20):
                await asyncio.sleep(0)
            if self._sleeping:
                self._sleeping.sort(key=lambda one: one[0])
                self.now, woken = self._sleeping.pop(0)
                woken.set()
        for task in tasks:
            await task


class Server:
    """Answers after five seconds, and takes so many requests in any minute; it refuses the others at once."""

    def __init__(self, clock: Clock, per_minute: int, retry_after: float | None = None) -> None:
        self.name = "test/model"
        self.began = list[float]()
        self.refused = 0
        self._clock = clock
        self._most = per_minute
        self._retry_after = retry_after
        self._taken = deque[float]()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        now = self._clock.now
        self.began.append(now)
        while self._taken and self._taken[0] <= now - MINUTE:
            self._taken.popleft()
        if len(self._taken) >= self._most:
            self.refused += 1
            raise ModelError(ModelErrorKind.RATE_LIMIT, "Too many.", retry_after=self._retry_after)
        self._taken.append(now)
        await self._clock.sleep(5.0)
        yield TextDelta(text="Done.")

    async def close(self) -> None:
        return None


async def ask_often(server: Server, clock: Clock, pace: Pace | None, tasks: int, requests: int) -> int:
    """Let so many tasks make so many requests each; return how many of the tasks came to the end of theirs."""
    done = 0

    async def ask() -> None:
        nonlocal done
        alone = Pace(now=lambda: clock.now, sleep=clock.sleep)
        model = Retrying(server, sleep=clock.sleep, pace=pace or alone)
        with suppress(ModelError):
            for _ in range(requests):
                await collected(model, request())
            done += 1

    await clock.run(*[asyncio.create_task(ask()) for _ in range(tasks)])
    return done


@pytest.mark.parametrize("retry_after", [None, 20.0])
async def test_tasks_that_share_a_pace_all_end_where_alone_most_are_refused_for_good(retry_after: float | None) -> None:
    clock = Clock()
    alone = Server(clock, per_minute=50, retry_after=retry_after)
    ended_alone = await ask_often(alone, clock, None, tasks=60, requests=4)
    server = Server(clock, per_minute=50, retry_after=retry_after)
    clock.now = 10_000.0
    ended = await ask_often(server, clock, Pace(now=lambda: clock.now, sleep=clock.sleep), tasks=60, requests=4)
    assert ended == 60 > ended_alone
    assert server.refused < alone.refused / (1 + (retry_after or 0))
    assert clock.now - 10_000.0 < 1.3 * 60 * 4 * MINUTE / 50


@pytest.mark.parametrize("tasks", [1, 20])
async def test_no_more_requests_begin_in_a_minute_than_the_settings_say(tasks: int) -> None:
    clock = Clock()
    server = Server(clock, per_minute=1_000)
    await ask_often(server, clock, Pace(10, now=lambda: clock.now, sleep=clock.sleep), tasks, requests=40 // tasks)
    assert all(later - one >= MINUTE for one, later in zip(server.began, server.began[10:], strict=False))
    assert len(server.began) == 40


async def test_a_request_without_company_waits_only_as_its_own_retries_do() -> None:
    clock = Clock()
    server = Server(clock, per_minute=1)
    pace = Pace(now=lambda: clock.now, sleep=clock.sleep)
    await ask_often(server, clock, pace, tasks=1, requests=1)
    with pytest.raises(ModelError):
        async with pace.turn():
            raise ModelError(ModelErrorKind.RATE_LIMIT, "Too many.", retry_after=100.0)
    asked_at = clock.now
    async with pace.turn() as place:
        await place.wait()
        assert clock.now == asked_at


async def test_a_person_who_waits_no_longer_is_not_kept_in_line() -> None:
    pace = Pace(1)
    async with pace.turn() as first, pace.turn() as second:
        await first.wait()
        first.begin()
        second.begin()
        assert not pace.has_answered
    assert pace.has_answered


async def test_a_long_wait_in_line_is_told_and_a_person_may_skip_it() -> None:
    server = Server(clock := Clock(), per_minute=1_000)
    pace, told = Pace(1), list[StepRetried]()
    first, second = (Retrying(server, sleep=clock.sleep, pace=pace) for _ in range(2))

    async def ask(model: Retrying) -> None:
        told.extend([event async for event in model.stream(request()) if isinstance(event, StepRetried)])

    asking = [asyncio.create_task(ask(model)) for model in (first, second)]
    async with asyncio.timeout(10):
        while not second.ask_now():
            await asyncio.sleep(0.01)
        await clock.run(*asking)
    assert not first.ask_now()
    assert [(one.attempt, one.unbilled, one.wait > 50) for one in told] == [(0, True, True), (0, True, False)]
    assert describe_retry(told[0]) == "Waiting for the provider's limit: 1 m 00 s"
    assert len(server.began) == 2


async def test_those_further_behind_in_line_expect_to_wait_longer() -> None:
    clock = Clock()
    pace = Pace(1, now=lambda: clock.now, sleep=clock.sleep)
    async with pace.turn() as first, pace.turn() as second, pace.turn() as third:
        first.begin()
        assert (second.count_seconds(), third.count_seconds()) == (MINUTE, 2 * MINUTE)
        second.end()
        assert third.count_seconds() == MINUTE


def test_the_models_of_a_provider_with_a_rate_keep_one_pace() -> None:
    paces, rates = Paces(), {"anthropic": 50.0}
    assert paces.find("anthropic/a", rates) is paces.find("anthropic/b", rates)
    assert paces.find("openai/a", rates) is paces.find("openai/a", rates)
    assert paces.find("openai/a", rates) is not paces.find("openai/b", rates)
