"""The terminal pane: a person's commands and the jobs, in their colors, and nothing that hides or leads away."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import shell
from tests.surfaces.web.pages.screen import Screen, Server

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HOSTILE = (
    r"printf 'one \033[31mred\033[0m \033[8mconcealed\033[0m \033[30;40mdark\033[0m "
    r"\033]8;;http://example.com/\007link\033]8;;\007 kept\033[1A\033[2J end\n'"
)


async def terminal(server: Server, opened, command: str, **size: int | str) -> Screen:
    """The terminal pane after a command of the person."""
    server.model({"text": "Well."})
    await server.start()
    screen = await opened(**size)
    await screen.say(f"!{command}")
    await screen.page.locator(".card.call .badge", has_text="you").wait_for()
    await screen.page.keyboard.press("Control+k")
    await screen.page.keyboard.type("Terminal")
    await screen.page.locator(".pick").get_by_text("Terminal", exact=True).click()
    await screen.page.locator(".xterm-rows").wait_for()
    return screen


async def shows(screen: Screen, text: str) -> None:
    await screen.page.locator(".xterm-rows").get_by_text(text).first.wait_for()


async def test_a_persons_command_has_its_colors_and_nothing_hides_a_letter(server, opened):
    screen = await terminal(server, opened, HOSTILE)
    await shows(screen, "end")
    rows = await screen.page.locator(".xterm-rows").inner_text()
    for word in ("one", "red", "concealed", "dark", "link", "kept", "end"):
        assert word in rows.split("\n", 1)[1].replace("\xa0", " ")
    assert await screen.page.locator(".xterm-rows .xterm-fg-1").inner_text() == "red"
    assert await screen.page.locator(".screen a").count() == 0


@pytest.mark.parametrize(("width", "theme"), [(1100, "dark"), (390, "light"), (320, "dark")])
async def test_a_command_is_typed_and_a_job_is_looked_at_and_stopped(width, theme, server, opened):
    screen = await terminal(server, opened, "(echo begins; sleep 600) &", width=width, theme=theme)
    await screen.page.get_by_label("Command to run").fill("echo $((6*7))")
    await screen.page.keyboard.press("Enter")
    await shows(screen, "42")
    await screen.page.get_by_role("button", name="job-1").click()
    await shows(screen, "begins")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    stop = screen.page.locator("dialog").get_by_role("button", name="Stop job")
    await stop.click()
    await stop.wait_for(state="detached")


CUT = """() => {
  const box = document.querySelector('.screen').getBoundingClientRect()
  return document.querySelector('.xterm-rows').getBoundingClientRect().bottom - box.bottom
}"""


@pytest.mark.parametrize("how", ["key", "button"])
async def test_a_running_command_of_the_persons_is_named_and_stopped(how, server, opened):
    screen = await terminal(server, opened, "echo begun; sleep 600")
    running = screen.page.locator("dialog [role=status]", has_text="Runs: echo begun; sleep 600")
    await running.wait_for()
    assert await screen.barriers() == []
    if how == "key":
        await screen.page.get_by_label("Command to run").press("Control+c")
    else:
        await running.get_by_role("button", name="Stop").click()
    await running.wait_for(state="detached")
    await shows(screen, "stopped")


async def test_the_pane_has_its_last_row_in_view_each_time_it_is_opened(server, opened):
    screen = await terminal(server, opened, "seq 100")
    for _ in range(2):
        await shows(screen, "100")
        assert await screen.page.evaluate(CUT) <= 0
        await screen.page.keyboard.press("Escape")
        await screen.page.locator("dialog").wait_for(state="detached")
        await screen.page.get_by_role("button", name="Terminal", exact=True).click()
        await screen.page.locator(".xterm-rows").wait_for()


async def test_where_there_is_room_it_stands_beside_the_chat_and_esc_leaves_it_for_what_opened_it(server, opened):
    server.model({"call": [shell("touch made")]}, {"text": "Done it."})
    await server.start()
    screen = await opened(width=1600)
    await screen.say("Do it.")
    await screen.page.locator("[data-decides] .primary:enabled").wait_for()
    button = screen.page.get_by_role("button", name="Terminal")
    await button.click()
    await screen.page.get_by_role("complementary", name="Terminal").locator(".xterm-rows").wait_for()
    assert await screen.page.locator("dialog").count() == 0
    assert await screen.barriers() == []
    await screen.page.get_by_label("Command to run").press("Escape")
    await screen.page.locator(".beside").wait_for(state="detached")
    await screen.page.locator("button:focus", has=screen.page.locator("svg")).wait_for()
    assert await button.evaluate("(one) => one === document.activeElement")
    await screen.page.locator("[data-decides] .primary:enabled").click()
    await screen.sees("Done it.")


async def test_a_command_that_was_begun_stays_when_the_page_is_drawn_again_or_has_less_room(server, opened):
    server.model({"text": "Done it."})
    await server.start()
    screen = await opened(width=1600)
    await screen.say("Do it.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Terminal").click()
    line = screen.page.get_by_label("Command to run")
    await line.fill("make tes")
    await screen.page.keyboard.press("Control+k")
    await screen.page.locator("dialog").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.page.locator("dialog").wait_for(state="detached")
    assert await line.input_value() == "make tes"
    await screen.page.set_viewport_size({"width": 800, "height": 700})
    await screen.page.get_by_role("dialog", name="Terminal").wait_for()
    assert await screen.page.locator(".beside").count() == 0
    assert await line.input_value() == "make tes"
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Escape")
    await screen.page.locator("dialog").wait_for(state="detached")


async def test_each_task_keeps_what_stands_beside_its_own_chat(server, opened):
    server.model({"text": "Done it."})
    await server.start()
    screen = await opened(width=1600)
    addresses = []
    for name in ("Terminal", "Files"):
        await screen.go("")
        await screen.say(f"Open {name}.")
        await screen.ended()
        assert await screen.page.locator(".beside").count() == 0
        await screen.page.get_by_role("button", name=name, exact=True).click()
        await screen.page.get_by_role("complementary", name=name).wait_for()
        addresses.append(await screen.page.evaluate("() => location.hash.slice(2)"))
    await screen.go(addresses[0])
    await screen.page.get_by_role("complementary", name="Terminal").wait_for()
    assert await screen.page.locator(".beside").count() == 1
