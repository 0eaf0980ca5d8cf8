import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.providers.streams import collected, message_of, request

from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried, TextDelta
from halocline.protocol.kinds import Mode
from halocline.providers.scripted.model import Fault, Scripted, Turn
from halocline.providers.wrappers.fallback import Fallback
from halocline.providers.wrappers.per_mode import Chosen, Switching
from halocline.providers.wrappers.retry import Retrying

DONE = Turn(text="Done.")


class Clock:
    """Notes how long it was asked to sleep, and does not."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def retrying(clock: Clock, *turns: Turn, spread: float = 0.5) -> Retrying:
    return Retrying(Scripted(turns), sleep=clock.sleep, random=lambda: spread)


async def test_a_passing_failure_is_asked_again_after_growing_waits() -> None:
    clock = Clock()
    faults = (Turn(fault=Fault.OVERLOADED), Turn(fault=Fault.SERVER), Turn(fault=Fault.DISCONNECT, text="Half"))
    events = await collected(retrying(clock, *faults, DONE))
    assert clock.slept == [2.0, 4.0, 8.0]
    told = [(e.attempt, e.most, e.wait) for e in events if isinstance(e, StepRetried)]
    assert told == [(1, 3, 2.0), (2, 3, 4.0), (3, 3, 8.0)]
    assert message_of(events).text == "Done."


async def test_the_retry_is_told_before_the_wait() -> None:
    told = asyncio.Event()

    async def sleep(_: float) -> None:
        assert told.is_set()

    model = Retrying(Scripted([Turn(fault=Fault.SERVER), DONE]), sleep=sleep)
    async for event in model.stream(request()):
        if isinstance(event, StepRetried):
            assert "internal error" in event.cause
            told.set()


async def test_after_three_retries_the_failure_is_raised() -> None:
    clock = Clock()
    with pytest.raises(ModelError) as caught:
        await collected(retrying(clock, *[Turn(fault=Fault.OVERLOADED)] * 4, DONE))
    assert caught.value.kind is ModelErrorKind.OVERLOADED
    assert len(clock.slept) == 3


@pytest.mark.parametrize("fault", [Fault.AUTH, Fault.CONTEXT_EXCEEDED])
async def test_a_failure_that_stays_is_never_asked_again(fault: Fault) -> None:
    clock = Clock()
    with pytest.raises(ModelError):
        await collected(retrying(clock, Turn(fault=fault), DONE))
    assert clock.slept == []


@pytest.mark.parametrize(("asked", "waited"), [(5.0, 5.0), (0.5, 2.0), (290.0, 290.0), (None, 2.0)])
async def test_the_servers_wish_is_the_least_that_is_waited(asked: float | None, waited: float) -> None:
    clock = Clock()
    await collected(retrying(clock, Turn(fault=Fault.RATE_LIMIT, retry_after=asked), DONE))
    assert clock.slept == [waited]


@pytest.mark.parametrize(("spread", "waited"), [(0.0, 1.5), (0.5, 2.0), (1.0, 2.5)])
async def test_waits_are_spread_by_a_quarter(spread: float, waited: float) -> None:
    clock = Clock()
    await collected(retrying(clock, Turn(fault=Fault.SERVER), DONE, spread=spread))
    assert clock.slept == [waited]


class Failing:
    """A model that fails in one way, always."""

    name = "test/failing"

    def __init__(self, kind: ModelErrorKind) -> None:
        self.kind = kind
        self.asked = 0

    async def stream(self, _: Request) -> AsyncIterator[ModelEvent]:
        self.asked += 1
        raise ModelError(self.kind, "It failed.")
        yield

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (ModelErrorKind.NETWORK, 4),
        (ModelErrorKind.UNREACHABLE, 2),
        (ModelErrorKind.TLS, 1),
        (ModelErrorKind.PROXY, 1),
    ],
)
async def test_the_kind_of_failure_decides_how_often_is_asked(kind: ModelErrorKind, asked: int) -> None:
    model = Failing(kind)
    with pytest.raises(ModelError):
        await collected(Retrying(model, sleep=Clock().sleep))
    assert model.asked == asked


class Silent:
    """Says nothing as long as it is asked the same."""

    name = "test/silent"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def stream(self, asked: Request) -> AsyncIterator[ModelEvent]:
        self.asked.append(asked)
        if asked.messages == self.asked[0].messages:
            raise ModelError(ModelErrorKind.EMPTY, "It sent an empty reply.", "")
        yield TextDelta("Done.")

    async def close(self) -> None:
        pass


async def test_a_model_that_said_nothing_is_told_so_in_the_next_attempt_alone() -> None:
    model, asked = Silent(), request()
    events = await collected(Retrying(model, waits=(0.0,)), asked)
    assert events[-1] == TextDelta("Done.")
    assert model.asked[0] == asked
    *same, told = model.asked[1].messages
    assert same == [*asked.messages]
    assert "neither text nor a call" in told.content[0].text


async def test_it_is_told_how_often_this_failure_is_asked_again() -> None:
    told: list[int] = []
    with pytest.raises(ModelError):
        await _listen(Retrying(Failing(ModelErrorKind.UNREACHABLE), sleep=Clock().sleep), told)
    assert told == [1]


async def _listen(model: Retrying, told: list[int]) -> None:
    async for event in model.stream(request()):
        told += [event.most] if isinstance(event, StepRetried) else []


async def test_text_from_before_the_failure_is_followed_by_the_retry() -> None:
    events = await collected(retrying(Clock(), Turn(text="Half and half", fault=Fault.DISCONNECT), DONE))
    assert [type(event) for event in events[:3]] == [TextDelta, StepRetried, TextDelta]


async def test_a_wait_can_be_cancelled() -> None:
    waiting = asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(collected(Retrying(Scripted([Turn(fault=Fault.SERVER), DONE]), sleep=sleep)))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_person_who_waits_no_longer_is_answered_at_once() -> None:
    model = Chosen(
        Switching({mode: Fallback([Retrying(Scripted([Turn(fault=Fault.OVERLOADED), DONE]))]) for mode in Mode})
    )
    assert not model.ask_now()
    events = []

    async def listen() -> None:
        async for event in model.stream(request()):
            events.append(event)

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(1.5):  # the wait is longer
        while not model.ask_now():
            await asyncio.sleep(0)
        await listening
    told = [event for event in events if isinstance(event, StepRetried)]
    assert [(one.attempt, bool(one.wait)) for one in told] == [(1, True), (1, False)]
    assert message_of(events).text == "Done."
    assert not model.ask_now()


class Down:
    """A model that fails so often, after its first answer where it gave one."""

    name = "near/m"

    def __init__(self, failures: int, *, answers_first: bool = True) -> None:
        self._coming = [False] * answers_first + [True] * failures

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if self._coming and self._coming.pop(0):
            raise ModelError(ModelErrorKind.UNREACHABLE, "Nobody answers.")
        yield TextDelta("Done.")

    async def close(self) -> None:
        """Nothing is held."""


def patient(clock: Clock, model: Down, minutes: float) -> Retrying:
    return Retrying(model, sleep=clock.sleep, random=lambda: 0.5, patience=60 * minutes)


async def test_where_nobody_is_there_an_outage_is_waited_out_with_a_retry_each_minute() -> None:
    clock = Clock()
    model = patient(clock, Down(5), minutes=10)
    await collected(model)
    events = await collected(model)
    assert clock.slept == [2.0, 60.0, 60.0, 60.0, 60.0]
    told = [(e.attempt, e.most) for e in events if isinstance(e, StepRetried)]
    assert told == [(1, 1), (2, 11), (3, 11), (4, 11), (5, 11)]
    assert events[-1] == TextDelta("Done.")


async def test_an_outage_is_waited_out_only_while_nobody_watches() -> None:
    clock = Clock()
    watched = iter([False, False, True])
    model = Retrying(Down(99), sleep=clock.sleep, random=lambda: 0.5, patience=600, is_watched=lambda: next(watched))
    await collected(model)
    with pytest.raises(ModelError):
        await collected(model)
    assert clock.slept == [2.0, 60.0, 60.0]


async def test_the_patience_has_an_end() -> None:
    clock = Clock()
    model = patient(clock, Down(99), minutes=2)
    await collected(model)
    with pytest.raises(ModelError):
        await collected(model)
    assert clock.slept == [2.0, 60.0, 60.0]


class UsedUp(Down):
    """Its plan is used up, for so many seconds."""

    def __init__(self, failures: int, seconds: float) -> None:
        super().__init__(failures)
        self._seconds = seconds

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if self._coming and self._coming.pop(0):
            raise ModelError(ModelErrorKind.QUOTA, "Used up.", retry_after=self._seconds)
        yield TextDelta("Done.")


@pytest.mark.parametrize(("minutes", "slept"), [(0, []), (9, []), (10, [600.0]), (120, [600.0])])
async def test_a_plan_that_is_used_up_ends_the_attempts_unless_nobody_is_there_and_the_patience_covers_it(
    minutes: float, slept: list[float]
) -> None:
    clock = Clock()
    model = patient(clock, UsedUp(1, 600.0), minutes)
    await collected(model)
    if slept:
        assert (await collected(model))[-1] == TextDelta("Done.")
    else:
        with pytest.raises(ModelError):
            await collected(model)
    assert clock.slept == slept


async def test_a_model_that_never_answered_is_not_waited_for() -> None:
    clock = Clock()
    with pytest.raises(ModelError):
        await collected(patient(clock, Down(9, answers_first=False), minutes=10))
    assert clock.slept == [2.0]
