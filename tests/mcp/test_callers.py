import asyncio

import pytest

from halocline.mcp.requests.callers import Callers
from halocline.ports.mcp import Caller


async def nobody(question, options):
    return None


def caller(task="t1", call="c1") -> Caller:
    return Caller(call, lambda text: None, nobody, task)


async def who(asked: Caller) -> tuple[str, str]:
    return asked.task, asked.call


async def test_a_question_reaches_the_call_that_the_server_began_last():
    callers = Callers()
    async with callers.serving(caller(), 5), callers.serving(caller(call="c2"), 5):
        assert await callers.ask(who) == ("t1", "c2")
    assert await callers.ask(who) is None


async def test_where_several_tasks_call_at_once_nobody_is_asked_and_then_they_take_turns():
    callers, order = Callers(), []
    async with callers.serving(caller("t1"), 5):
        async with callers.serving(caller("t2"), 5):
            assert await callers.ask(who) is None

        async def second():
            async with callers.serving(caller("t2"), 5):
                order.append(await callers.ask(who))

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.05)
        order.append(await callers.ask(who))
    await waiting
    assert order == [("t1", "c1"), ("t2", "c1")]


async def test_a_question_ends_with_its_call():
    callers, ended = Callers(), asyncio.Event()

    async def thinking(asked):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with callers.serving(caller(), 5):
        asking = asyncio.create_task(callers.ask(thinking))
        await asyncio.sleep(0.01)
    assert ended.is_set()
    assert await asking is None


async def test_the_time_of_a_call_stands_still_while_somebody_thinks():
    callers = Callers()

    async def thinking(asked):
        await asyncio.sleep(0.3)
        return "done"

    async with callers.serving(caller(), 0.1), callers.serving(caller(call="c2"), 0.1):
        assert await callers.ask(thinking) == "done"
    with pytest.raises(TimeoutError):
        async with callers.serving(caller(), 0.05):
            await asyncio.sleep(1)
