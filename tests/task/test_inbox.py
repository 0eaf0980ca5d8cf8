import asyncio

import pytest

from halocline.protocol.commands import AnswerQuestion, ResolveApproval
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import Text
from halocline.protocol.state.turn import TurnState
from halocline.task.inbox import Inbox, Interrupted, Prompt

YES = ResolveApproval(task="t", request="r1", decision=Choice.ALLOW_ONCE)


async def test_prompts_come_in_order_until_the_inbox_closes():
    inbox = Inbox(attended=True)
    inbox.prompt(Prompt((Text("a"),)))
    inbox.prompt(Prompt((Text("b"),)))
    inbox.close()
    assert [prompt.content async for prompt in inbox.prompts()] == [(Text("a"),), (Text("b"),)]


async def test_nobody_to_ask_is_an_answer_at_once():
    inbox = Inbox(attended=False)
    with inbox.decision("r1") as waiting:
        assert await waiting.arrives() is None


async def test_a_decision_reaches_the_one_who_waits_for_it_and_only_once():
    inbox = Inbox(attended=True)
    with inbox.decision("r1") as waiting:
        assert inbox.resolve(YES)
        assert not inbox.resolve(YES)
        assert await waiting.arrives() == YES


async def test_a_stale_answer_is_dropped():
    inbox = Inbox(attended=True)
    assert not inbox.resolve(YES)
    assert not inbox.reply(AnswerQuestion(task="t", request="q9", answer="x"))


async def test_an_interrupt_ends_what_waits():
    inbox = Inbox(attended=True)

    async def turn():
        async with inbox.interruptible():
            await asyncio.sleep(60)

    running = asyncio.create_task(turn())
    await asyncio.sleep(0)
    inbox.interrupt()
    with pytest.raises(Interrupted):
        await running


async def test_an_interrupt_during_the_last_line_does_not_leak_into_what_follows():
    inbox = Inbox(attended=True)
    with pytest.raises(Interrupted):
        async with inbox.interruptible():
            inbox.interrupt()
    await asyncio.sleep(0)


async def test_an_interrupt_without_a_turn_is_nothing():
    inbox = Inbox(attended=True)
    inbox.interrupt()
    async with inbox.interruptible():
        await asyncio.sleep(0)


async def run_turn(inbox: Inbox, serving: asyncio.Event) -> None:
    async with inbox.interruptible():
        serving.set()
        await asyncio.sleep(60)


@pytest.mark.parametrize(("wanted", "is_interrupted"), [(0, True), (7, True), (3, False)])
async def test_an_interrupt_of_another_turn_spares_the_one_that_runs(wanted: int, is_interrupted: bool):
    inbox, serving = Inbox(attended=True), asyncio.Event()
    running = asyncio.create_task(run_turn(inbox, serving))
    await serving.wait()
    inbox.interrupt_turn(TurnState(0.0, seq=7), wanted)
    assert inbox.is_interrupted == is_interrupted
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize("wanted", [0, 7])
async def test_an_interrupt_while_a_turn_ends_spares_the_prompt_after_it(wanted: int):
    inbox = Inbox(attended=True)
    inbox.prompt(Prompt((Text("next"),)))
    inbox.interrupt_turn(TurnState(0.0, seq=7), wanted)
    assert not inbox.is_interrupted


async def test_an_interrupt_reaches_a_prompt_that_is_queued_and_a_turn_that_is_to_go_on():
    queued, resumed = Inbox(attended=True), Inbox(attended=True)
    queued.prompt(Prompt((Text("next"),)))
    queued.interrupt_turn(None)
    resumed.go_on()
    resumed.interrupt_turn(TurnState(0.0, seq=7), 7)
    assert (queued.is_interrupted, resumed.is_interrupted) == (True, True)


async def test_cancellation_from_outside_stays_a_cancellation():
    inbox = Inbox(attended=True)

    async def turn():
        async with inbox.interruptible():
            await asyncio.sleep(60)

    running = asyncio.create_task(turn())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_time_limit_interrupts_and_says_that_it_was_time():
    inbox = Inbox(attended=False)
    with pytest.raises(Interrupted) as why:
        async with inbox.interruptible(0.001):
            await asyncio.sleep(60)
    assert why.value.limit == "time"


async def test_what_breaks_a_judge_is_raised_where_its_decision_is_awaited():
    async def break_off():
        raise OSError("the disk is full")

    with Inbox(attended=False).decision("r1", is_judged=True) as waiting:
        asyncio.create_task(break_off()).add_done_callback(waiting.share_failure)
        with pytest.raises(OSError, match="full"):
            await waiting.arrives()
