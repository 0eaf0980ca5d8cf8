"""Each thing that a page waits for, disturbed in each way: it ends afterwards as if nothing had been, and once."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Screen, Server

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LAST = "That was the last of it."
DRAFT = "words that nobody sent"
Step = Callable[[Screen, Server], Awaitable[None]]


def call(tool: str, **arguments: object) -> dict[str, Any]:
    return {"call": [{"tool": tool, "arguments": arguments}]}


async def approve(screen: Screen, server: Server) -> None:
    await screen.page.locator("[data-decides] button.primary:enabled").first.click()


async def answer(screen: Screen, server: Server) -> None:
    await screen.page.locator("[data-decides] .option:enabled").first.click()


SITUATIONS: dict[str, tuple[dict[str, Any], str, Step | None]] = {
    "a reply that is written": (
        {"text": "Word by word, line by line.\n\n" * 60 + LAST, "pace": 0.05},
        ".log .md p",
        None,
    ),
    "a command that runs": (
        call("execute_command", command="echo begun; sleep 4; echo done > done.txt"),
        ".state.run",
        None,
    ),
    "a command that asks": (
        call("execute_command", command="rm -f nothing.txt; echo done > done.txt"),
        "[data-decides] button.primary:enabled",
        approve,
    ),
    "an edit that asks": (
        call("write_to_file", path="done.txt", content="done\n"),
        "[data-decides] button.primary:enabled",
        approve,
    ),
    "a question": (
        call("ask_followup_question", question="Which of the two?", options=["The first", "The second"]),
        "[data-decides] .option:enabled",
        answer,
    ),
}
"""What the model does, what is on the page then, and what the person does afterwards; without it, a draft is kept."""


async def reload(screen: Screen, server: Server) -> None:
    await screen.page.reload()
    await screen.page.locator("[data-told=yes]").wait_for()


async def go_back_and_forward(screen: Screen, server: Server) -> None:
    await screen.go("history")
    await screen.page.locator("h1", has_text="History").wait_for()
    await screen.page.go_back()
    await screen.page.locator("[data-told=yes]").wait_for()
    await screen.page.go_forward()
    await screen.page.locator("h1", has_text="History").wait_for()
    await screen.page.go_back()


async def lose_the_network(screen: Screen, server: Server) -> None:
    await screen.context.set_offline(True)
    await screen.page.locator("[data-ready=lost]").wait_for()
    await screen.context.set_offline(False)
    await screen.page.locator("[data-ready=open]").wait_for()
    screen.problems.clear()  # a line that could not be opened


async def look_with_another_tab(screen: Screen, server: Server) -> None:
    other = await screen.context.new_page()
    await other.goto(screen.page.url)
    await other.locator("[data-told=yes]").wait_for()
    await other.close()


async def zoom(screen: Screen, server: Server) -> None:
    await screen.page.set_viewport_size({"width": 320, "height": 256})
    assert not await screen.scrolls_sideways()
    await screen.page.wait_for_timeout(300)
    await screen.page.set_viewport_size({"width": 1100, "height": 800})


async def switch_views_fast(screen: Screen, server: Server) -> None:
    here = screen.page.url.partition("#/")[2]
    for _ in range(12):
        for place in ("history", "settings", "", here):
            await screen.go(place)


async def press_keys_that_do_nothing(screen: Screen, server: Server) -> None:
    await screen.page.locator(".task-title").click()
    for key in ("j", "k", "Tab", "Shift+Tab", "F2", "Control+.", "Control+."):
        await screen.page.keyboard.press(key)


async def open_and_leave_all_beside(screen: Screen, server: Server) -> None:
    for name in ("Changes", "Rewind", "Files", "Terminal"):
        button = screen.page.locator(f".task-head [aria-label^={name}]")
        await button.click()
        title = screen.page.get_by_role("heading", name=name)
        place = screen.page.locator("dialog[open], aside.review").filter(has=title)
        await title.wait_for()
        await place.get_by_role("button", name="Close", exact=True).first.press("Escape")
        await place.wait_for(state="detached")
        await screen.page.wait_for_function("(it) => it === document.activeElement", arg=await button.element_handle())


DISTURBANCES: dict[str, Step] = {
    step.__name__: step
    for step in (
        reload,
        go_back_and_forward,
        lose_the_network,
        look_with_another_tab,
        zoom,
        switch_views_fast,
        press_keys_that_do_nothing,
        open_and_leave_all_beside,
    )
}


@pytest.mark.parametrize("disturbance", DISTURBANCES)
@pytest.mark.parametrize("situation", SITUATIONS)
async def test_what_a_page_waits_for_is_finished_once_however_it_is_disturbed(situation, disturbance, server, opened):
    turn, sign, finish = SITUATIONS[situation]
    server.model(turn, {"text": LAST})
    with (server.halo.home / "settings.toml").open("a") as settings:
        settings.write(f'approval_mode = "{"ask" if finish else "yolo"}"\n')
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.page.locator(sign).first.wait_for()
    if not finish:
        await screen.composer.fill(DRAFT)
    await DISTURBANCES[disturbance](screen, server)
    if finish:
        await screen.page.locator(sign).first.wait_for()
        await finish(screen, server)
    await screen.sees(LAST, ".log")
    await screen.ended()
    assert (await screen.transcript()).count(LAST) == 1
    assert not await screen.scrolls_sideways()
    log = server.halo.log()
    assert [one.reason for one in log if isinstance(one, ev.TurnEnded)] == [StopReason.END_TURN]
    started = [one.call for one in log if isinstance(one, ev.ToolCallStarted)]
    assert started == [one.call for one in log if isinstance(one, ev.ToolCallEnded)]
    assert len([one for one in log if isinstance(one, ev.ApprovalResolved)]) <= 1
    assert finish or await screen.composer.input_value() == DRAFT
