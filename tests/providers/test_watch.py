import asyncio
from contextlib import closing, suppress

import pytest

from halocline.providers.wrappers.bounded import Watch


async def wait_watched(watch: Watch, seconds: float, work) -> str:
    watch.begin(seconds)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.end_if_expired():
            return "too long"
        raise
    finally:
        watch.end()


async def test_each_wait_has_its_own_limit():
    with closing(Watch()) as watch:
        assert await wait_watched(watch, 60, asyncio.sleep(0.01, "done")) == "done"
        assert await wait_watched(watch, 0.01, asyncio.sleep(60, "done")) == "too long"
        assert await wait_watched(watch, 60, asyncio.sleep(0.03, "done")) == "done"
        assert await wait_watched(watch, 0.01, asyncio.sleep(60, "done")) == "too long"


async def test_time_between_waits_does_not_count():
    with closing(Watch()) as watch:
        for _ in range(3):
            assert await wait_watched(watch, 0.05, asyncio.sleep(0, "done")) == "done"
            await asyncio.sleep(0.06)


async def test_a_wait_that_was_too_long_leaves_no_cancellation_behind():
    with closing(Watch()) as watch:
        assert await wait_watched(watch, 0.01, asyncio.sleep(60)) == "too long"
    assert asyncio.current_task().cancelling() == 0
    assert await asyncio.sleep(0, "goes on") == "goes on"


async def test_a_cancellation_from_outside_stays_one():
    with closing(Watch()) as watch:
        running = asyncio.create_task(wait_watched(watch, 60, asyncio.sleep(60)))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_a_wait_that_ends_although_it_was_cancelled_counts():
    async def stubborn() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return "done"

    with closing(Watch()) as watch:
        assert await wait_watched(watch, 0.01, stubborn()) == "done"
    assert asyncio.current_task().cancelling() == 0
