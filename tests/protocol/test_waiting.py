import asyncio

import pytest

from halocline.protocol.waiting import wait_until


async def test_what_is_so_is_found_at_once_and_what_becomes_so_later():
    answers = iter([False, False, True])

    async def is_so() -> bool:
        return next(answers)

    assert await wait_until(is_so, 20, 0.001)
    assert list(answers) == []


async def test_slow_answers_make_no_wait_longer():
    asked = 0

    async def is_so() -> bool:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.1)
        return False

    assert not await wait_until(is_so, 0.5, 0.001)
    assert asked <= 5  # 500 pauses of a millisecond fit into the time


async def test_an_answer_that_never_comes_ends_with_the_time():
    assert not await wait_until(asyncio.Event().wait, 0.01, 0.001)


async def test_one_that_takes_too_long_for_a_reason_of_its_own_is_an_error():
    async def is_so() -> bool:
        raise TimeoutError("a lock is held")

    with pytest.raises(TimeoutError, match="a lock is held"):
        await wait_until(is_so, 20, 0.001)
