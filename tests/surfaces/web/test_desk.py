"""Which tasks stay open for pages, in this process, with a scripted model."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, ended, shell

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Text
from halocline.protocol.waiting import end_tasks
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller
from halocline.surfaces.web import board_feed, wire
from halocline.surfaces.web.open_tasks import OpenTasks

pytestmark = pytest.mark.process

SCRIPT = '[[turn]]\ntext = "Hello."\n[[turn]]\ntext = "Again."\n'
ASKS = """[[turn]]
[[turn.call]]
tool = "execute_command"
arguments = {command = "touch made", requires_approval = true}
"""

PLANS = """
[[turn]]
[[turn.call]]
tool = "plan_mode_respond"
arguments = {response = "First this, then that."}
"""


@asynccontextmanager
async def desk_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, idle: float, script: str = SCRIPT
) -> AsyncIterator[tuple[OpenTasks, str]]:
    """A desk with one task that was begun on it."""
    monkeypatch.setenv("HALOCLINE_HOME", str(folder / "home"))
    (folder / "script.toml").write_text(script)
    client = Client(Controller(Assembly.of(Choices())), "web")
    desk = OpenTasks(client, (folder,), idle)
    try:
        task = await desk.begin(wire.Begin("a", str(folder), (), model=f"scripted/{folder}/script.toml"))
        yield desk, task
    finally:
        await desk.close()
        await client.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


async def test_a_task_that_rests_is_given_back_when_nobody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk_of(tmp_path, monkeypatch, 0.2) as (desk, task):
        assert desk.client.tasks.writer(task)
        await until(lambda: not desk.client.tasks.writer(task))
        assert desk.standing() == {}
        await desk.open(task)
        assert desk.standing() == {task: "rests"}


async def test_a_task_that_somebody_looks_at_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk_of(tmp_path, monkeypatch, 0.2) as (desk, task):
        with desk.watched(task):
            await asyncio.sleep(0.8)
            assert desk.client.is_open(task)
        await until(lambda: not desk.client.is_open(task))


async def test_a_task_that_asks_stays_open_and_is_not_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk_of(tmp_path, monkeypatch, 0.2, ASKS) as (desk, task):
        desk.client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
        await until(lambda: desk.standing().get(task) == "asks")
        await asyncio.sleep(0.8)
        assert desk.standing() == {task: "asks"}
        with pytest.raises(HaloclineError, match="is running"):
            await desk.let_go(task)


async def test_a_plan_that_waits_asks_and_an_idle_one_is_given_back_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk_of(tmp_path, monkeypatch, 0.2, PLANS) as (desk, task):
        with desk.watched(task):
            desk.client.send(cmd.SetMode(task=task, mode=Mode.PLAN))
            desk.client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
            await until(lambda: desk.standing().get(task) == "asks")
        await until(lambda: not desk.client.is_open(task))


@pytest.mark.slow
async def test_no_page_misses_a_change_that_another_page_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk_of(tmp_path, monkeypatch, 60.0) as (desk, task), asyncio.timeout(board_feed.LONGEST / 2):
        feed = desk.board_feed
        await feed.next_answer(-1)
        await asyncio.sleep(3)  # what its beginning changed is seen
        known = (await feed.next_answer(-1)).revision

        async def look_on() -> None:
            at = known
            while True:
                at = (await feed.next_answer(at)).revision

        looking = asyncio.create_task(look_on())
        await asyncio.sleep(2 * board_feed.PAUSE)
        monkeypatch.setattr(board_feed, "PAUSE", 3.0)
        other = asyncio.create_task(feed.next_answer(known))
        await asyncio.sleep(0)
        monkeypatch.setattr(board_feed, "PAUSE", 0.05)
        desk.client.send(cmd.Label(task=task, name="new name"))  # all is seen while the other page pauses
        assert (await other).revision > known
        await end_tasks(looking)


async def test_many_who_open_a_task_at_once_open_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk_of(tmp_path, monkeypatch, 60.0) as (desk, task):
        await desk.let_go(task)
        assert not desk.client.tasks.writer(task)
        await asyncio.gather(*(desk.open(task) for _ in range(10)))
        assert desk.standing() == {task: "rests"}


WAITS = {"call": [shell("touch began; until [ -e go ]; do sleep 0.05; done")]}


@pytest.mark.slow
async def test_a_task_that_rests_when_its_writer_ends_is_never_opened_for_who_only_looks(
    halo: Halo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOCLINE_HOME", str(halo.home))
    running = await halo.start("run", "-y", "-m", halo.script(WAITS, {"text": "Done."}), "go")
    await until((halo.folder / "began").exists)
    (task,) = halo.tasks
    client = Client(Controller(Assembly.of(Choices())), "web")
    desk = OpenTasks(client, (halo.folder,))
    try:
        with desk.watched(task):
            await desk.join(task)
            assert client.is_attached(task)
            (halo.folder / "go").touch()
            was_open_here = False

            def is_left() -> bool:
                nonlocal was_open_here
                was_open_here |= client.is_open(task) and not client.is_attached(task)
                return not client.is_open(task)

            await until(is_left)
            await ended(running)
            assert (was_open_here, client.tasks.writer(task)) == (False, "")
            await desk.open(task)
            assert client.tasks.writer(task) == str(os.getpid())
    finally:
        await desk.close()
        await client.close()


@pytest.mark.slow
async def test_pages_see_what_a_task_of_another_process_does(halo: Halo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOCLINE_HOME", str(halo.home))
    asks = {"call": [shell("touch made", risky=True)]}
    words = ("run", "--bg", "--approval-mode", "auto", "-m", halo.script(WAITS, asks, {"text": "Done."}), "go")
    task = (await halo.run(*words, env={"HALOCLINE_HOME": str(halo.home)})).out.strip()
    client = Client(Controller(Assembly.of(Choices())), "web")
    desk, page = OpenTasks(client, (halo.folder,)), asyncio.Event()
    try:
        desk.subscribe(page)
        await until(lambda: desk.board() == {task: "runs"})
        assert page.is_set()
        (halo.folder / "go").touch()
        await until(lambda: desk.board() == {task: "asks"})
        await halo.run("stop", task)
        await until(lambda: desk.board() == {})
        assert not client.is_open(task)
    finally:
        await desk.close()
        await client.close()
