"""The board in the page: tasks of other processes in their groups, decided from the list, from a phone's width on."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell
from tests.surfaces.web.pages.screen import SILENCE

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

RISKY = {"call": [shell("echo made > made", risky=True)]}
ASKS = {"call": [call("ask_followup_question", question="Which name?")]}
RUNS = {"text": "word " * 4000, "pace": 0.05}
DONE = {"text": "It is done."}
FOCUS = "() => document.activeElement.textContent"


class Tasks:
    """Tasks in the background of a home."""

    def __init__(self, halo) -> None:
        self.halo = halo

    async def start(self, name: str, *turns, words: tuple[str, ...] = ()) -> str:
        model = self.halo.script(*turns, name=name)
        done = await self.halo.run("run", "--bg", *words, "-m", model, f"the {name} one")
        assert done.code == 0, done.err
        return done.out.strip()

    def kill(self) -> None:
        with suppress(OSError, ValueError, IndexError):  # the lock is empty once the last task has ended
            os.kill(int((self.halo.home / "background" / "lock").read_text().split()[0]), signal.SIGKILL)


@pytest_asyncio.fixture(loop_scope="session")
async def tasks(halo) -> AsyncIterator[Tasks]:
    found = Tasks(halo)
    yield found
    found.kill()


async def test_what_tasks_of_other_processes_ask_is_decided_from_the_list(server, opened, tasks, halo) -> None:
    asking = await tasks.start("asking", ASKS, DONE)
    risky = await tasks.start("risky", RISKY, DONE)
    await server.start()
    screen = await opened(path="board", width=390, theme="dark")
    await screen.sees("Needs you (2)", ".board")
    await screen.page.get_by_role("button", name="Decide: the asking one").click()
    await screen.page.get_by_label("Your answer").fill("Ada")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Needs you (1)", ".board")
    assert await screen.page.evaluate(FOCUS) == "Board"
    await screen.page.locator(".board-asked .approves:not([disabled])").wait_for()
    await asyncio.sleep(SILENCE / 1000)
    await screen.page.keyboard.press("Enter")
    await screen.sees("Ended (2)", ".board")
    assert (halo.folder / "made").exists()
    (answered,) = (event for event in halo.log(asking) if isinstance(event, ev.QuestionAnswered))
    (decided,) = (event for event in halo.log(risky) if isinstance(event, ev.ApprovalResolved))
    assert (answered.answer, decided.decision) == ("Ada", "allow_once")


@pytest.mark.parametrize(("width", "theme"), [(320, "light"), (390, "dark"), (1100, "light"), (1100, "dark")])
async def test_it_has_no_barriers_and_does_not_scroll_sideways(server, opened, tasks, width: int, theme: str) -> None:
    await tasks.start("risky", RISKY, DONE)
    running = await tasks.start("running", RUNS)
    await tasks.start("waiting", DONE, words=("--after", running))
    await server.start()
    screen = await opened(path="board", width=width, theme=theme)
    await screen.sees("waits for", ".board")
    await screen.page.locator(".board-asked .approves:not([disabled])").wait_for()
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()


async def test_what_a_kill_cut_short_is_listed_and_resumed(server, opened, tasks, halo) -> None:
    running = await tasks.start("running", RUNS, DONE)
    await tasks.start("waiting", DONE, words=("--after", running))
    await server.start()
    screen = await opened(path="board")
    await screen.sees("Running (2)", ".board")
    tasks.kill()
    await screen.sees("Cut short (2)", ".board")
    await screen.page.get_by_label("Filter tasks").last.fill("RUNNING cut")
    await screen.sees("Cut short (1)", ".board")
    await screen.page.get_by_role("button", name="Resume: the running one").click()
    await screen.page.get_by_label("Filter tasks").last.fill("")
    await screen.sees("Ended (2)", ".board")  # the new process takes up what waited, too


async def test_a_task_before_which_another_was_stopped_is_started_from_the_list(server, opened, tasks) -> None:
    running = await tasks.start("running", RUNS)
    await tasks.start("waiting", DONE, words=("--after", running))
    await server.start()
    screen = await opened(path="board")
    await screen.page.get_by_role("button", name="Stop: the running one").click()
    await screen.sees("was stopped.", ".board")
    await screen.page.get_by_role("button", name="Start it all the same").click()
    await screen.sees("Ended (2)", ".board")
