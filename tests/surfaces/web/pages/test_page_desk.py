"""What stands around a task: palette, models, what is done without asking, keys, the list of tasks, the first time."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import SILENCE

from halocline.protocol import events as ev
from halocline.task.log import read_log

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FOCUSED = "() => document.activeElement.id"


def events(server) -> list[ev.Event]:
    return list(read_log(max((server.halo.home / "tasks").glob("*/events.jsonl"))))


async def begun(server, opened, *turns, **how):
    server.model(*(turns or ({"text": "Done it."},)))
    await server.start()
    screen = await opened(**how)
    await screen.say("Begin with words to find.")
    return screen


async def test_the_palette_finds_commands_and_tasks_and_gives_the_focus_back(server, opened):
    screen = await begun(server, opened)
    await screen.ended()
    await screen.page.keyboard.press("Control+K")
    await screen.page.locator("dialog input:focus").wait_for()
    assert await screen.barriers() == []
    await screen.page.keyboard.type("plan mode")
    await screen.page.locator(".pick.on", has_text="Switch to plan mode").wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".mode", has_text="Plan").wait_for()
    await screen.page.keyboard.press("Control+Shift+O")
    await screen.page.locator(".home").wait_for()
    await screen.page.keyboard.press("Control+E")
    await screen.page.locator("dialog input:focus").wait_for()
    await screen.page.keyboard.press("Escape")
    assert await screen.page.evaluate(FOCUSED) == "composer"
    await screen.page.keyboard.press("Control+E")
    await screen.page.locator(".pick.on", has_text="Begin with words").wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.sees("Done it.")


async def test_the_approval_mode_is_chosen_with_what_it_does_and_full_access_is_framed(server, opened):
    call = {"tool": "execute_command", "arguments": {"command": "touch a", "requires_approval": True}}
    screen = await begun(server, opened, {"call": [call]}, {"text": "Done it."})
    await screen.page.locator("[data-decides]").get_by_role("button", name="Why am I being asked?").click()
    await screen.page.locator(".policy-grid").wait_for()
    await screen.sees("Why approval is needed", "dialog")
    await screen.sees("This would need approval.", "dialog")
    assert await screen.barriers() == []
    await screen.page.get_by_label("Full access").click()
    await screen.page.get_by_role("alertdialog", name="Switch to Full access?").wait_for()
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Enter")  # the focus is on the button that leaves it
    await screen.page.get_by_role("alertdialog").wait_for(state="detached")
    await screen.page.get_by_label("Full access").click()
    await screen.page.get_by_role("button", name="Switch to Full access").click()
    await screen.sees("nothing needs approval", "dialog")
    await screen.sees("Approvals: Full access", "[aria-live]")
    await screen.page.locator("dialog input[value=ask]").click()
    await screen.sees("Approvals: Ask", "[aria-live]")
    await screen.page.keyboard.press("Escape")
    await screen.page.locator(".composer:not(.full-access)").wait_for()
    await screen.composer.focus()
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.keyboard.press("Enter")
    await screen.sees("Done it.")
    changes = [event.approval_mode for event in events(server) if isinstance(event, ev.PolicyChanged)]
    assert changes == ["yolo", "ask"]


async def test_a_key_is_moved_and_one_that_is_taken_is_refused(server, opened):
    screen = await begun(server, opened)
    await screen.ended()
    await screen.page.keyboard.press("Escape")
    await screen.page.locator(".log").focus()
    await screen.page.keyboard.press("?")
    await screen.page.get_by_role("button", name="Find in this task").click()
    await screen.page.keyboard.press("Control+K")
    await screen.sees("is used by", "dialog")
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Control+Y")
    await screen.page.locator(".key-button", has_text="Ctrl+Y").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.page.reload()
    await screen.sees("Done it.")
    await screen.page.keyboard.press("Control+Y")
    await screen.page.locator(".find input:focus").wait_for()
    await screen.page.keyboard.type("words to find")
    await screen.sees("1 of 1", ".find")
    await screen.page.keyboard.press("Escape")
    assert await screen.page.locator(".find").count() == 0


async def test_a_task_is_renamed_and_deleted_from_the_list_and_comes_back(server, opened):
    screen = await begun(server, opened)
    await screen.ended()
    await screen.page.locator(".task-more").first.focus()
    await screen.page.keyboard.press("Enter")
    await screen.page.locator("[role=menuitem]:focus").wait_for()
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".task-menu input:focus").fill("A better name")
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".sidebar .task-link", has_text="A better name").wait_for()
    await screen.page.locator(".task-more").first.click()
    await screen.page.keyboard.press("End")
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".sidebar .task-link").wait_for(state="detached")
    await screen.page.get_by_role("button", name="Undo").click()
    await screen.page.locator(".sidebar .task-link", has_text="A better name").wait_for()


async def test_the_first_time_begins_with_a_key_and_with_tasks_that_name_real_files(server, opened):
    (server.halo.folder / "test_shape.py").write_text("def test_one(): pass\n")
    server.settings("")
    await server.start()
    screen = await opened()
    await screen.sees("Welcome to Halocline")
    await screen.page.locator(".step .starters", has_text="test_shape.py").wait_for()
    assert await screen.barriers() == []
    await screen.page.get_by_role("button", name="Connect", exact=True).click()
    await screen.sees("Enter an API key.")
    await screen.page.get_by_label("in", exact=True).select_option(label="Another folder…")
    await screen.page.locator(".folder-list").wait_for()
    assert await screen.barriers() == []


async def test_a_folder_with_programs_of_its_own_is_asked_about_before_a_task_begins(server, opened):
    (server.halo.folder / ".mcp.json").write_text('{"mcpServers": {"odd": {"command": "odd-server"}}}')
    screen = await begun(server, opened)
    await screen.sees("odd-server", "dialog")
    assert await screen.barriers() == []
    await screen.page.get_by_role("button", name="Not now").click()
    await screen.sees("was not started")
    assert await screen.composer.input_value() == "Begin with words to find."
    await screen.composer.press("Enter")
    await screen.page.get_by_role("button", name="Don’t trust").click()
    await screen.sees("Done it.")


async def test_the_theme_is_kept_and_holds_before_anything_is_drawn(server, opened):
    await server.start()
    screen = await opened()
    await screen.page.get_by_role("button", name="Theme:").click()
    await screen.page.get_by_role("button", name="Theme: light").click()
    await screen.page.reload(wait_until="commit")
    await screen.page.wait_for_function("() => document.body")
    assert await screen.page.evaluate("() => document.documentElement.dataset.theme") == "dark"


async def test_escape_twice_in_an_empty_box_leads_to_the_moments(server, opened):
    screen = await begun(server, opened)
    await screen.ended()
    await screen.composer.focus()
    await screen.page.keyboard.press("Escape")
    await screen.sees("Press Esc again to rewind")
    await screen.page.keyboard.press("Escape")
    await screen.page.locator("dialog.sheet").wait_for()


async def test_a_decision_that_waits_is_in_the_title_and_notified_when_nobody_looks(server, opened):
    call = {"tool": "execute_command", "arguments": {"command": "touch a", "requires_approval": True}}
    server.model({"text": "Wait.", "delay": 1.5, "call": [call]}, {"text": "Done it."})
    await server.start()
    screen = await opened()
    await screen.page.evaluate(
        """() => {
          window.told = []
          window.Notification = class { constructor(title) { window.told.push(title) } }
          window.Notification.permission = 'granted'
          localStorage.setItem('halo notifying', 'true')
          dispatchEvent(new StorageEvent('storage', {key: 'halo notifying'}))
          document.hasFocus = () => false
        }"""
    )
    await screen.say("Begin.")
    await screen.page.wait_for_function("() => document.title.startsWith('(1) ')")
    await screen.page.wait_for_function("() => window.told.length === 1 && window.told[0].startsWith('Needs you')")


async def test_how_hard_plan_mode_thinks_is_set_where_models_are_chosen(server, opened):
    screen = await begun(server, opened)
    await screen.ended()
    await screen.page.locator(".model-chip").press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.get_by_text("Thinking and plan mode").click()
    await sheet.get_by_label("Plan: effort").select_option("high")
    await sheet.get_by_text("Saved.").wait_for()
    assert 'effort = "high"' in (server.halo.home / "settings.toml").read_text().partition("[plan]")[2]
    await sheet.get_by_text("Change this task’s effort").wait_for()
