import asyncio

import pytest

from halocline.protocol.errors import UsageError
from halocline.surfaces.web.idempotency import REMEMBERED, IdempotencyKeys


class Counted:
    def __init__(self) -> None:
        self.times = 0

    async def __call__(self) -> int:
        self.times += 1
        await asyncio.sleep(0)
        return self.times


async def test_an_id_is_answered_as_it_was_before() -> None:
    once, do = IdempotencyKeys(), Counted()
    answers = await asyncio.gather(*(once.answer("a", do) for _ in range(5)))
    assert (answers, await once.answer("b", do)) == ([1] * 5, 2)


async def test_what_failed_fails_again_and_is_not_tried_again() -> None:
    once, times = IdempotencyKeys(), []

    async def fails() -> None:
        times.append(1)
        raise UsageError("no")

    for _ in range(2):
        with pytest.raises(UsageError):
            await once.answer("a", fails)
    assert len(times) == 1


async def test_it_goes_on_when_the_page_that_asked_leaves() -> None:
    once, go = IdempotencyKeys(), asyncio.Event()

    async def waits() -> str:
        await go.wait()
        return "done"

    asking = asyncio.create_task(once.answer("a", waits))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    go.set()
    assert await once.answer("a", waits) == "done"


async def test_what_is_kept_is_bounded_and_what_still_runs_is_kept() -> None:
    once, go = IdempotencyKeys(), asyncio.Event()
    first = asyncio.create_task(once.answer("first", go.wait))
    await asyncio.sleep(0)
    for number in range(REMEMBERED + 10):
        await once.answer(f"id{number}", Counted())
    assert len(once._done) <= REMEMBERED + 1
    go.set()
    assert await first is True


@pytest.mark.parametrize("id", ["", "a" * 65])
async def test_an_id_is_neither_empty_nor_long(id: str) -> None:
    with pytest.raises(UsageError):
        await IdempotencyKeys().answer(id, Counted())
