"""Two tasks in one page: what is begun, shown or decided in one of them is nothing of the other's."""

import re

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell
from tests.surfaces.web.pages.screen import SILENCE

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def write(path):
    return call("write_to_file", path=path, content="new\n")


DONE = {"text": "So be it."}
TWO_EDITS = {"call": [write("a.txt"), write("b.txt")]}
ONE_EDIT = {"call": [write("c.txt")]}
COMMAND = {"call": [shell("echo made > made", risky=True)]}


async def begin(server, screen, *turns) -> str:
    """Begin a task on home whose model says this, and wait until it asks."""
    server.halo.script(*turns)  # each task reads the script anew
    known = set(server.halo.tasks)
    await screen.go("")
    await screen.page.locator(".home").wait_for()
    await screen.say("Do it.")
    await screen.page.wait_for_url(re.compile("#/task/"))
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    [task] = set(server.halo.tasks) - known
    return task


async def opened_with(server, opened, *turns, **more):
    server.model(*turns)
    await server.start()
    screen = await opened(**more)
    return screen, await begin(server, screen, *turns)


def requests(server, *tasks):
    """The requests of these tasks, in order."""
    return [
        next(event.request for event in server.halo.log(task) if isinstance(event, ev.ApprovalRequested))
        for task in tasks
    ]


def decisions(server, task):
    return [event.decision for event in server.halo.log(task) if isinstance(event, ev.ApprovalResolved)]


async def test_a_command_asks_beside_a_task_whose_edits_wait(server, opened):
    screen, first = await opened_with(server, opened, TWO_EDITS, DONE)
    await screen.sees("2 edits in 2 files", ".edits-ahead")
    second = await begin(server, screen, COMMAND, DONE)
    assert len(set(requests(server, first, second))) == 1  # what this test is about
    assert await screen.page.locator(".edits-ahead").count() == 0
    await screen.page.locator(".card.asks .approves").click()
    await screen.ended()
    assert (server.halo.folder / "made").exists()
    await screen.go("")
    await screen.page.locator(".home").wait_for()
    assert await screen.page.locator(".card.asks").count() == 0
    assert decisions(server, first) == []


async def test_the_edits_of_one_task_are_not_counted_in_another(server, opened):
    screen, first = await opened_with(server, opened, TWO_EDITS, DONE)
    await screen.page.locator(".edit-ahead").get_by_role("button", name="Reject").click()
    await screen.page.locator(".edit-ahead").get_by_text("Rejected").wait_for()
    await screen.page.locator(".card.asks .approves").first.click()
    await screen.ended()
    second = await begin(server, screen, ONE_EDIT, DONE)
    assert len(set(requests(server, first, second))) == 1
    assert await screen.page.locator(".edits-ahead").count() == 0
    await screen.page.locator(".card.asks .approves").click()
    await screen.ended()
    assert [(server.halo.folder / f"{name}.txt").exists() for name in "abc"] == [True, False, True]


async def test_a_rejection_begun_in_one_task_is_not_open_in_another(server, opened):
    screen, first = await opened_with(server, opened, COMMAND, DONE)
    await screen.page.locator(".card.asks").get_by_role("button", name="Reject…").click()
    await screen.page.keyboard.type("because A")
    second = await begin(server, screen, COMMAND, DONE)
    assert len(set(requests(server, first, second))) == 1
    assert await screen.page.locator(".decision-form").count() == 0
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.keyboard.press("Enter")
    await screen.ended()
    assert decisions(server, second) == ["allow_once"]
    await screen.task(first)
    assert await screen.page.locator(".decision-form input").input_value() == "because A"


async def test_what_was_in_view_in_one_task_was_not_in_view_in_another(server, opened):
    long = {"call": [shell("\n".join(f"echo {number}" for number in range(60)), risky=True)]}
    screen, first = await opened_with(server, opened, long, DONE, width=390, height=640)
    await screen.page.wait_for_timeout(SILENCE)
    await screen.composer.press("Enter")  # shows the rest
    await screen.page.locator(".whole pre.all").first.wait_for()
    await screen.page.locator("[data-decides] [data-end]").first.scroll_into_view_if_needed()
    second = await begin(server, screen, long, DONE)
    assert len(set(requests(server, first, second))) == 1
    assert await screen.page.locator(".whole pre.all").count() == 0
    await screen.page.wait_for_timeout(SILENCE)
    await screen.composer.press("Enter")
    await screen.page.locator(".whole pre.all").first.wait_for()
    assert decisions(server, first) == decisions(server, second) == []
