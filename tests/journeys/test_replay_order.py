"""The order of events is that of the log, whichever task or thread is ready first."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

import pytest
from tests.journeys.conftest import Journey
from tests.shuffled_loop import ShuffledLoop

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.replay.replay import Replay

T = TypeVar("T")
SEEDS = range(1, 6)
QUESTION = "ask_followup_question"
ALONE = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=False)


def ask(number: int) -> Call:
    return Call(QUESTION, {"question": f"Which {number}?"})


def read(path: str) -> Call:
    return Call("read_file", {"path": path})


def run(command: str) -> Call:
    return Call("execute_command", {"command": command, "requires_approval": True})


STORIES = {
    "questions that nobody can answer": (Turn(calls=(ask(1), ask(2), ask(3))), Turn(calls=(ask(4), ask(5)))),
    "reads, one refused and one of no file": (
        Turn(calls=(read("a"), read("/etc/shadow"), read("b"), read("none"), read("c"))),
    ),
    "a question among reads": (Turn(calls=(read("a"), ask(1), read("b"), ask(2))),),
    "refused commands beside reads": (Turn(calls=(read("a"), run("rm -rf a"), read("b"), run("curl x.test"))),),
    "sub-agents": (
        Turn(calls=(Call("use_subagents", {f"prompt_{number}": f"Look {number}." for number in (1, 2, 3)}),)),
        *(Turn(text="looked", calls=()) for _ in range(3)),
    ),
}


def play(work: Coroutine[object, object, T], seed: int) -> tuple[T, int]:
    """Run on a loop of the seed; return the result, and how often the order was another."""
    loop = ShuffledLoop(seed)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work), loop.shuffles


async def replay(journey: Journey) -> Replay:
    async with asyncio.timeout(60):
        return await journey.replay()


def record(folder: Path, story: str, seed: int) -> Journey:
    journey = Journey(folder)
    for name in "abc":
        journey.write(name, f"{name}\n" * 3)
    play(journey.run(*STORIES[story], Turn(text="done"), options=ALONE), seed)
    return journey


@pytest.mark.parametrize("story", STORIES)
def test_a_task_that_ran_in_one_order_replays_in_every_other(story: str, tmp_path: Path) -> None:
    journey = record(tmp_path, story, seed=0)
    found = [play(replay(journey), seed) for seed in SEEDS]
    assert [done.differences for done, _ in found] == [()] * len(SEEDS)


def test_the_loop_runs_tasks_in_another_order(tmp_path: Path) -> None:
    async def count() -> list[int]:
        ran: list[int] = []

        async def note(number: int) -> None:
            await asyncio.sleep(0)
            ran.append(number)

        await asyncio.gather(*(note(number) for number in range(20)))
        return ran

    orders = [play(count(), seed) for seed in SEEDS]
    assert all(shuffles for _, shuffles in orders)
    assert len({tuple(order) for order, _ in orders}) == len(SEEDS)


def test_several_questions_that_nobody_can_answer_end_in_their_own_order(tmp_path: Path) -> None:
    asked = record(tmp_path, "questions that nobody can answer", seed=3)
    ends = [event.request for event in asked.logged if isinstance(event, ev.QuestionAnswered)]
    assert len(ends) == 5
    assert ends == [event.request for event in asked.logged if isinstance(event, ev.QuestionAsked)]
