import asyncio
import gc

import pytest

from halocline.protocol.waiting import end_tasks, wait_at_most, wait_until


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


async def lose_cancellations(times: int) -> str:
    """An endless loop that continues after the first cancellations."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if times == 0:
                raise
            times -= 1


async def begin(work) -> asyncio.Task:
    task = asyncio.create_task(work)
    await asyncio.sleep(0)
    return task


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_a_task_that_loses_cancellations_is_cancelled_until_it_has_ended(times):
    task = await begin(lose_cancellations(times))
    (end,) = await end_tasks(task, again=0.01)
    assert task.cancelled()
    assert isinstance(end, asyncio.CancelledError)


async def test_a_wait_of_the_library_that_keeps_one_cancellation_ends_as_well():
    async def take_turns() -> None:
        for turn in turns:  # until Python 3.12, `wait_for` returns what is there when the cancellation comes
            await asyncio.wait_for(turn, 60)

    turns = [asyncio.get_running_loop().create_future() for _ in range(2)]
    task = await begin(take_turns())
    turns[0].set_result(None)
    await end_tasks(task, again=0.01)
    assert task.cancelled()


async def test_tasks_end_together_and_say_how():
    async def fail() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise OSError("the disk is full")

    given = asyncio.get_running_loop().create_future()
    given.set_result(7)
    cancelled, failed, result = await end_tasks(
        await begin(lose_cancellations(1)), None, await begin(fail()), given, again=0.01
    )
    assert isinstance(cancelled, asyncio.CancelledError)
    assert (str(failed), result) == ("the disk is full", 7)
    assert await end_tasks() == await end_tasks(None) == []


async def test_a_task_that_cleans_up_is_not_disturbed():
    cleaned = []

    async def clean_up() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.append(True)

    await end_tasks(await begin(clean_up()))
    assert cleaned == [True]


async def test_one_who_is_cancelled_while_it_ends_a_task_ends_it_at_once_and_then_itself():
    task = await begin(lose_cancellations(2))
    ending = await begin(end_tasks(task, again=60))
    for _ in range(2):
        assert not task.done()
        ending.cancel()
        await asyncio.sleep(0.01)
    assert task.cancelled()
    assert ending.cancelled()


async def test_two_that_end_each_other_do_not_spin():
    turns = 0

    class Counting(asyncio.Future):
        def cancel(self, msg=None):
            nonlocal turns
            turns += 1
            return False

    stubborn = Counting()
    ending = await begin(end_tasks(stubborn, again=60))
    for _ in range(20):
        ending.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert turns < 10
    stubborn.set_result(None)
    await asyncio.wait([ending])
    assert ending.cancelled()


async def test_a_limit_cuts_the_cleanup_of_a_task_that_is_ended_and_is_kept():
    task = await begin(lose_cancellations(1))
    assert not await wait_at_most(0.01, end_tasks(task, again=60))
    assert task.cancelled()


async def test_a_task_cannot_end_itself():
    async def end_itself() -> None:
        await end_tasks(asyncio.current_task())

    with pytest.raises(AssertionError, match="its own end"):
        await asyncio.create_task(end_itself())


async def test_a_limited_wait_says_whether_it_was_in_time():
    assert await wait_at_most(20, asyncio.sleep(0))
    assert not await wait_at_most(0.01, asyncio.sleep(60))


async def test_a_limited_wait_loses_no_cancellation_that_comes_with_its_result():
    async def wait() -> bool:
        return await wait_at_most(60, ready)

    ready = asyncio.get_running_loop().create_future()
    task = await begin(wait())
    ready.set_result(None)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_what_ended_tasks_raise_is_reported_by_no_loop_also_if_the_caller_is_cancelled():
    reported, loop = list[object](), asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context))

    async def fail_late():
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            raise ValueError from None

    failing = asyncio.create_task(fail_late())
    await asyncio.sleep(0)
    ending = asyncio.create_task(end_tasks(failing))
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    assert ending.cancelled()
    del ending, failing
    gc.collect()
    assert reported == []
