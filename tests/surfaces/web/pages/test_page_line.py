"""The line to the server: lost and found again at any moment, and shared by several pages."""

import random
import signal
from typing import Any

import msgspec
import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Screen, Server

from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.kinds import PromptRow, Row
from halocline.task.log import read_log

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

ROWS = """async () => {
  const { current } = await import(early.base + 'static/js/state/store.js')
  return JSON.stringify(current.value.rows)
}"""
LOADED = "async () => void (await import(early.base + 'static/js/lib/connection.js'))"
DROP = "async () => (await import(early.base + 'static/js/lib/connection.js')).drop()"
LONG = "\n\n".join(f"Paragraph {n} says *something* about `part{n}` of the work." for n in range(40))


async def rows(screen: Screen) -> list[Row]:
    return msgspec.json.decode(await screen.page.evaluate(ROWS), type=list[Row])


def written(server: Server) -> list[Row]:
    log = next(server.halo.home.glob("tasks/*/events.jsonl"))
    return list(rows_of(read_log(log)))


@pytest.mark.parametrize("seed", range(3))
async def test_a_page_whose_line_breaks_at_random_shows_what_one_shows_that_never_lost_it(seed, server, opened):
    luck = random.Random(seed)
    server.model(
        {"text": LONG, "pace": 0.004},
        {"call": [command("for i in $(seq 40); do echo line $i; sleep 0.02; done")]},
        {"text": LONG[::-1], "pace": 0.004},
    )
    await server.start()
    screen = await opened()
    await full_access(screen)
    await screen.say("Say much.")
    await screen.page.locator(".prompt").first.wait_for()
    for _ in range(7):
        await screen.page.wait_for_timeout(luck.uniform(10, 500))
        await screen.page.evaluate(DROP)
    await screen.ended()
    # A line that is cut before it was whole is worth a word in the console to Chromium.
    screen.problems[:] = [problem for problem in screen.problems if "WebSocket" not in problem]
    assert await rows(screen) == written(server)
    other = await opened()
    await other.go(screen.page.url.partition("#/")[2])
    await other.page.locator("[data-told=yes]").wait_for()
    await other.ended()
    assert await other.transcript() == await screen.transcript()


async def test_a_page_that_is_loaded_in_the_middle_of_a_reply_has_all_of_it(server, opened):
    server.model({"text": LONG, "pace": 0.02})
    await server.start()
    screen = await opened()
    await screen.say("Say much.")
    await screen.sees("Paragraph 2")
    await screen.page.reload()
    await screen.sees("Paragraph 0 says")
    await screen.ended()
    assert await rows(screen) == written(server)


async def test_a_decision_of_one_page_is_seen_in_the_other_with_who_decided(server, opened):
    server.model({"call": [command("touch done.txt")]}, {"text": "It is done."})
    await server.start()
    one, other = await opened(), await opened(width=390)
    await one.say("Do it.")
    await one.page.locator("[data-decides]").wait_for()
    await other.go(one.page.url.partition("#/")[2])
    await other.page.locator("[data-decides]").wait_for()
    await other.page.locator("[data-decides]").get_by_role("button", name="Approve").click()
    await one.sees("It is done.")
    assert await one.page.locator("[data-decides]").count() == 0
    assert "approved in another tab or browser" in (await one.transcript()).lower()


async def test_what_is_sent_while_the_line_is_lost_is_done_once_when_it_is_back(server, opened):
    server.model({"text": "First."}, {"text": "Second."})
    await server.start()
    screen = await opened()
    await screen.say("One.")
    await screen.ended()
    await screen.page.evaluate(LOADED)
    await screen.context.set_offline(True)
    await screen.page.evaluate(DROP)
    await screen.page.locator("[data-ready=lost]").wait_for()
    await screen.say("Two.")
    await screen.context.set_offline(False)
    await screen.sees("Second.")
    await screen.ended()
    screen.problems.clear()  # Chromium says in the console that it was offline
    assert [row.text for row in written(server) if isinstance(row, PromptRow)] == ["One.", "Two."]


@pytest.mark.parametrize("where", ["a task", "the first page"])
async def test_a_server_that_answers_nothing_is_noticed_and_what_was_said_stays_in_view_and_is_done_once(
    where, server, opened
):
    server.model({"text": "First."}, {"text": "Second."})
    await server.start()
    screen = await opened()
    if where == "a task":
        await screen.say("One.")
        await screen.ended()
    await screen.page.evaluate(LOADED)
    server.process.send_signal(signal.SIGSTOP)
    try:
        await screen.say("Two.")
        await screen.page.wait_for_function(
            "() => /Two\\./.test(document.querySelector('.composer').textContent) ||"
            " document.querySelector('#composer').value === 'Two.'"
        )
        assert await screen.page.locator("[data-ready=open]").count() == 1
        await screen.page.locator("[data-ready=lost]").wait_for()
        await screen.sees("No connection to the server", ".banner")
        assert await screen.barriers() == []
    finally:
        server.process.send_signal(signal.SIGCONT)
    await screen.sees("Second." if where == "a task" else "First.", ".log")
    await screen.ended()
    assert await screen.page.locator(".strip").count() == 0
    assert [row.text for row in written(server) if isinstance(row, PromptRow)][-1] == "Two."
    assert len([row for row in written(server) if isinstance(row, PromptRow)]) == (2 if where == "a task" else 1)


async def test_a_network_that_goes_away_leaves_a_page_that_the_server_still_answers_alone(server, opened):
    await server.start()
    screen = await opened()
    await screen.page.evaluate(LOADED)
    server.process.send_signal(signal.SIGSTOP)
    await screen.page.evaluate("() => dispatchEvent(new Event('offline'))")
    await screen.page.locator("[data-ready=lost]").wait_for()
    server.process.send_signal(signal.SIGCONT)
    await screen.page.locator("[data-ready=open]").wait_for()
    await screen.page.evaluate("() => dispatchEvent(new Event('offline'))")
    await screen.page.wait_for_timeout(6_500)  # longer than an answer may take
    assert await screen.page.locator("[data-ready=open]").count() == 1


def command(line: str) -> dict[str, Any]:
    return {"tool": "execute_command", "arguments": {"command": line}}


async def full_access(screen: Screen) -> None:
    await screen.page.evaluate(
        "async () => { const { choice } = await import(early.base + 'static/js/state/store.js');"
        " choice.value = { ...choice.value, approval_mode: 'yolo' } }"
    )
