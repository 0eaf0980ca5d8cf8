"""Approval switches in the page: a line that says what is done without asking, and a switch for each kind."""

import pytest
from tests.hosts.chromium import needs_chromium

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
DONE = {"text": "Done it."}


def write(path):
    return {"call": [{"tool": "write_to_file", "arguments": {"path": path, "content": "x\n"}}]}


def switches(server):
    return [(event.switch, event.on) for event in server.halo.log() if isinstance(event, ev.ApprovalSwitched)]


async def sheet_of(screen, name="Approvals: Ask"):
    await screen.page.get_by_role("button", name=name).click()
    sheet = screen.page.locator("dialog.sheet")
    await sheet.get_by_text("Auto-approve by kind").wait_for()
    if not await sheet.locator(".switch-line").first.is_visible():
        await sheet.locator(".switches summary").click()
    return sheet


async def test_a_switch_is_confirmed_holds_at_once_and_is_seen_by_every_page(server, opened):
    server.model(DONE, write("a.txt"), DONE)
    await server.start()
    screen = await opened()
    await screen.say("Hello.")
    await screen.ended()
    other = await opened()
    await other.task(server.halo.tasks[0])
    sheet = await sheet_of(screen)
    await screen.sees("Auto-approved: read files here, safe commands", "dialog")
    choice = sheet.get_by_label("Edit files here")
    await choice.select_option("true")
    question = screen.page.get_by_role("alertdialog", name="Edit files here: auto-approve?")
    await question.wait_for()
    assert await screen.barriers() == []
    assert switches(server) == []
    await screen.page.keyboard.press("Escape")
    await question.wait_for(state="detached")
    assert await choice.input_value() == ""
    await choice.select_option("true")
    await question.get_by_role("button", name="Auto-approve").click()
    await screen.sees("Auto-approved: read files here, edit files here", "dialog")
    assert await screen.barriers() == []
    assert switches(server) == [("edit", True)]
    await other.sees("Auto-approve edit: on, set by")
    await other.page.get_by_role("button", name="Approvals: Ask, 1 switch set").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.say("Write it.")
    await screen.page.locator(".turn-end").nth(1).wait_for()
    assert not [event for event in server.halo.log() if isinstance(event, ev.ApprovalRequested)]
    assert "auto_approve" not in (server.halo.home / "settings.toml").read_text()


async def test_a_switch_that_asks_more_needs_no_word_and_can_be_kept_for_new_tasks(server, opened):
    server.model(DONE)
    await server.start()
    screen = await opened()
    await screen.say("Hello.")
    await screen.ended()
    sheet = await sheet_of(screen)
    await sheet.get_by_label("Also apply changes to new tasks").check()
    await sheet.get_by_label("Read files here").select_option("false")
    await screen.sees("Also set for new tasks.")
    assert switches(server) == [("read", False)]
    assert "read = false" in (server.halo.home / "settings.toml").read_text()


@pytest.mark.parametrize(("width", "theme"), [(320, "light"), (390, "dark"), (1100, "light")])
async def test_the_switches_fit_on_every_screen(server, opened, width, theme):
    server.model(DONE)
    await server.start()
    screen = await opened(width=width, theme=theme)
    await screen.say("Hello.")
    await screen.ended()
    sheet = await sheet_of(screen)
    await sheet.get_by_label("All commands").select_option("true")
    await screen.page.get_by_role("alertdialog").wait_for()
    assert await screen.barriers() == []
    assert await screen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    body = "() => { const it = document.querySelector('dialog.sheet'); return it.scrollWidth <= it.clientWidth }"
    assert await screen.page.evaluate(body)


async def test_permissions_of_new_tasks_are_one_table_that_is_edited(server, opened):
    await server.start()
    screen = await opened(width=320)
    await screen.go("settings/approvals")
    reads = screen.page.get_by_label("Read, outside")
    written = server.halo.home / "settings.toml"
    question = screen.page.get_by_role("alertdialog", name="Read, outside: allow?")
    await reads.select_option(label="Allow")
    await question.wait_for()
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await question.get_by_role("button", name="Cancel").click()
    await question.wait_for(state="detached")
    assert await reads.input_value() == "null"
    assert not written.exists()
    await reads.select_option(label="Allow")
    await question.get_by_role("button", name="Allow").click()
    await screen.sees("Permissions: saved", "[aria-live]")
    assert "read_outside = true" in written.read_text()
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await reads.select_option(label="By mode")
    while "read_outside" in written.read_text():
        await screen.page.wait_for_timeout(50)


async def test_a_permission_that_lets_any_code_run_is_asked_about_as_a_danger_and_a_stricter_one_is_not(server, opened):
    await server.start()
    screen = await opened(path="settings/approvals")
    for name in ("Builds and tests", "All commands"):
        await screen.page.get_by_label(name, exact=True).select_option(label="Allow")
        await screen.page.get_by_role("alertdialog", name=f"{name}: allow?").locator(".danger").wait_for()
    await screen.page.get_by_label("Web", exact=True).select_option(label="Ask")
    await screen.sees("Permissions: saved", "[aria-live]")
    written = (server.halo.home / "settings.toml").read_text()
    assert "web = false" in written
    assert "all_commands" not in written
    assert "project_code" not in written
