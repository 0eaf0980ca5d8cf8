"""The browser's Back closes what lies over the page, and leaves nothing that has to be gone back over twice."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_back_closes_a_dialog_and_stays_at_the_task(server, opened):
    server.model({"text": "ok"})
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.ended()
    task, dialogs = screen.page.url, screen.page.locator("dialog")
    await screen.go("history")
    await screen.page.go_back()
    for close in ("Back", "Escape", "Back", "Back"):
        await screen.page.get_by_role("button", name="Rewind", exact=True).click()
        await dialogs.wait_for()
        await (screen.page.go_back() if close == "Back" else screen.page.keyboard.press("Escape"))
        await dialogs.wait_for(state="detached")
        assert screen.page.url == task
    await screen.page.get_by_role("button", name="Rewind", exact=True).click()
    await dialogs.wait_for()
    await screen.page.keyboard.press("Escape")
    await dialogs.wait_for(state="detached")
    await screen.page.go_back()
    await screen.sees("What do you want to do?", "h1")


async def test_back_closes_one_of_two_dialogs_and_then_the_other(server, opened):
    server.model({"text": "ok"})
    await server.start()
    screen = await opened(width=390)
    await screen.say("Go.")
    await screen.ended()
    task, dialogs = screen.page.url, screen.page.locator("dialog")
    await screen.page.locator("[aria-label^=Changes]").first.click()
    await screen.page.get_by_role("dialog", name="Changes").wait_for()
    await screen.page.keyboard.press("Control+k")
    await screen.page.locator("dialog.picker").wait_for()
    await screen.page.go_back()
    await screen.page.locator("dialog.picker").wait_for(state="detached")
    assert await dialogs.count() == 1
    await screen.page.go_back()
    await dialogs.wait_for(state="detached")
    assert screen.page.url == task


async def test_back_closes_the_list_of_tasks_of_a_narrow_screen_and_a_link_in_it_is_followed(server, opened):
    server.model({"text": "ok"})
    await server.start()
    screen = await opened(width=390)
    drawer, menu = screen.page.locator(".shell.with-sidebar"), screen.page.locator(".menu-button")
    await screen.go("board")
    await screen.page.locator("h1", has_text="Board").wait_for()
    for way in ("back", "link"):
        await menu.first.click()
        await drawer.wait_for()
        if way == "back":
            await screen.page.go_back()
        else:
            await screen.page.locator(".page-link", has_text="History").click()
        await drawer.wait_for(state="detached")
    await screen.page.locator("h1", has_text="History").wait_for()
    await screen.page.go_back()
    await screen.page.locator("h1", has_text="Board").wait_for()
    await screen.page.go_back()
    await screen.sees("What do you want to do?", "h1")
