"""Tasks that start after others: `halo run --bg --after ID`, through ends of every kind and a killed process."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.surfaces.cli.halo_process import Halo, until_written
from tests.surfaces.cli.test_halo_attach import HI, WAITS
from tests.surfaces.cli.test_halo_background import LIMIT, Background

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import StopReason

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def background(halo: Halo) -> Iterator[Background]:
    found = Background(halo)
    yield found
    if found.pid:
        found.kill()


async def until_event(halo: Halo, task: str, kind: type[ev.Durable]) -> ev.Durable:
    """Wait for the first event of a kind in a task's log."""
    async with asyncio.timeout(LIMIT):
        while True:
            if found := next((event for event in halo.log(task) if isinstance(event, kind)), None):
                return found
            await asyncio.sleep(0.05)


def has_started(halo: Halo, task: str) -> bool:
    return any(isinstance(event, ev.TurnStarted) for event in halo.log(task))


async def test_a_task_starts_once_all_the_tasks_before_it_have_ended_well(halo: Halo, background: Background) -> None:
    first = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    other = await background.start("-m", halo.script(HI, name="other"), "other")
    last = await background.start("--after", first[-4:], "--after", other, "-m", halo.script(HI, name="last"), "last")
    await background.until_said(f"{other} is closed")
    await asyncio.sleep(1)
    assert not has_started(halo, last)
    assert "running      last" in (await halo.run("tasks", "list")).out
    (halo.folder / "go").touch()
    await background.until_over()
    assert halo.state(last).last_end.reason is StopReason.END_TURN
    begins = next(event.at for event in halo.log(last) if isinstance(event, ev.TurnStarted))
    assert begins > halo.state(first).last_end.at


async def test_after_a_task_that_was_stopped_the_next_one_waits_for_a_person_who_may_start_it(
    halo: Halo, background: Background
) -> None:
    first = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    last = await background.start("--after", first, "-m", halo.script(HI, name="last"), "last")
    await until_written(halo.folder / "began")
    assert (await halo.run("stop", first)).code == 0
    held = await until_event(halo, last, ev.QueueHeld)
    assert isinstance(held, ev.QueueHeld)
    assert held.reason == f"Task {first} was stopped."
    assert "needs you    last" in (await halo.run("tasks", "list")).out
    client = open_client(Choices(), environment=halo.env)
    await client.tasks.deliver(cmd.SendQueued(task=last, messages=held.messages), "test")
    await background.until_over()
    assert halo.state(last).last_end.reason is StopReason.END_TURN


async def test_a_kill_loses_no_wait_and_the_next_process_takes_it_up(halo: Halo, background: Background) -> None:
    first = await background.start("-y", "-m", halo.script(WAITS, HI, HI), "first")
    last = await background.start("--after", first, "-m", halo.script(HI, name="last"), "last")
    await until_written(halo.folder / "began")
    background.kill()
    await background.until_over()
    assert halo.state(last).queue.waits
    await background.start("-r", first)
    await background.until_over()
    assert halo.state(first).last_end.reason is StopReason.END_TURN
    assert halo.state(last).last_end.reason is StopReason.END_TURN
    assert len([event for event in halo.log(last) if isinstance(event, ev.TurnStarted)]) == 1


async def test_a_signal_that_ends_the_process_leaves_the_wait_to_the_next_one(
    halo: Halo, background: Background
) -> None:
    first = await background.start("-y", "-m", halo.script(WAITS, HI, HI), "first")
    last = await background.start("--after", first, "-m", halo.script(HI, name="last"), "last")
    await until_written(halo.folder / "began")
    background.kill(15)
    await background.until_over()
    await background.start("-r", last)
    await background.until_said(f"{last} is closed")
    assert not has_started(halo, last)  # the signal interrupted the first one
    assert halo.state(last).queue.refused


async def test_a_task_that_is_stopped_before_it_started_stays_so(halo: Halo, background: Background) -> None:
    first = await background.start("-y", "-m", halo.script(WAITS, HI), "first")
    last = await background.start("--after", first, "-m", halo.script(HI, name="last"), "last")
    await until_written(halo.folder / "began")
    assert (await halo.run("stop", last)).code == 0
    (halo.folder / "go").touch()
    await background.until_over()
    assert not has_started(halo, last)
    assert not halo.state(last).queue.waits


async def test_what_cannot_be_waited_for_starts_nothing(halo: Halo, background: Background) -> None:
    model = halo.script(HI)
    for words, text in (
        (("--bg", "--after", "nosuch"), "no task 'nosuch'"),
        (("--bg", "--session-id", "mine", "--after", "mine"), "no task 'mine'"),
        (("-p", "--after", "nosuch"), "--after goes with --bg"),
        (("--bg", "-c", "--after", "nosuch"), "--after is for new tasks"),
    ):
        done = await halo.run("run", *words, "-m", model, "go")
        assert (done.code, text in done.err) == (2, True), done.err
    assert not (halo.home / "tasks").exists() or halo.tasks == []
