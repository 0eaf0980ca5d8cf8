"""A long task: it opens from its last rows, and older ones come as they are looked for."""

import json
from pathlib import Path

import pytest
from playwright.async_api import Locator
from pypdfium2 import PdfDocument
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Screen, Server

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TURNS = 300
ROWS = "async () => (await import(early.base + 'static/js/state/store.js')).current.value.rows.filter(Boolean).length"


ROW = "async (number) => (await import(early.base + 'static/js/state/store.js')).current.value.rows[number]"
PRINTS = """() => { window.papers = []; window.print = () => {
  dispatchEvent(new Event('beforeprint'))
  papers.push(document.querySelector('.printed')?.shadowRoot.textContent ?? '')
  dispatchEvent(new Event('afterprint'))
} }"""
"""Print as a browser does, without its window."""
IN_VIEW = """() => [...document.querySelectorAll('.prompt')].find((one) =>
  one.getBoundingClientRect().top > document.querySelector('.log').getBoundingClientRect().top)?.textContent"""


def long_task(server: Server, golden: Path, turns: int = TURNS) -> str:
    """A task of many turns, each a prompt and its end."""
    task = server.task(golden / "repair.jsonl")
    log = server.halo.home / "tasks" / task / "events.jsonl"
    events = [json.loads(line) for line in log.read_text().splitlines()]
    begin = next(event for event in events if event["type"] == "turn_started")
    end = next(event for event in events if event["type"] == "turn_ended")
    for number in range(turns):
        content = [{"type": "text", "text": f"Prompt number {number}."}]
        events += [begin | {"content": content}, end]
    numbered = (json.dumps(event | {"seq": seq}) for seq, event in enumerate(events, 1))
    log.write_text("".join(f"{line}\n" for line in numbered))
    return task


async def top_of(screen: Screen, text: str) -> float:
    return await screen.page.evaluate(
        "(text) => [...document.querySelectorAll('.prompt')].find((one) => one.textContent.includes(text))"
        ".getBoundingClientRect().top",
        text,
    )


async def test_a_long_task_opens_at_its_end_without_its_older_rows(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.sees(f"Prompt number {TURNS - 1}.")
    assert await screen.page.evaluate(ROWS) < 2 * TURNS
    assert "Prompt number 0." not in await screen.transcript()


async def test_older_rows_come_above_without_moving_what_is_looked_at(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    before = await screen.page.evaluate(ROWS)
    await screen.sees(f"Prompt number {TURNS - 1}.")
    await screen.page.locator(".log").hover()
    await screen.page.evaluate(
        "() => { const log = document.querySelector('.log'); log.dispatchEvent(new WheelEvent('wheel'));"
        " log.scrollTop = 1300 }"
    )
    await screen.page.wait_for_function(f"async () => (await ({ROWS})()) > {before}")
    found = await screen.page.wait_for_function(
        "() => [...document.querySelectorAll('.prompt')].find((one) => { const { top } = one.getBoundingClientRect();"
        " return top > 150 && top < innerHeight / 2 })?.textContent"
    )
    shown = await found.json_value()
    text = shown.split(".")[0] + "."
    was = await top_of(screen, text)
    await screen.page.mouse.wheel(0, -200)
    await screen.page.wait_for_function(
        "([text, was]) => Math.abs([...document.querySelectorAll('.prompt')]"
        ".find((one) => one.textContent.includes(text)).getBoundingClientRect().top - was - 200) < 40",
        arg=[text, was],
    )


async def test_a_page_holds_no_more_of_a_long_task_however_much_of_it_was_scrolled_by(server, opened, golden: Path):
    task = long_task(server, golden, turns=10 * TURNS)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".log").hover()
    drawn, held = 0, 0
    while await screen.page.locator(".log").evaluate("(log) => log.scrollTop"):
        await screen.page.mouse.wheel(0, -20_000)
        await screen.page.wait_for_timeout(50)
        drawn = max(drawn, await screen.page.locator("[data-card]").count())
        held = max(held, await screen.page.evaluate(ROWS))
    await screen.page.locator(".start").wait_for()
    assert drawn < 150
    assert held < 1_500


async def test_rows_that_were_forgotten_come_again(server, opened, golden: Path):
    task = long_task(server, golden, turns=10 * TURNS)
    await server.start()
    screen = await opened()
    await screen.task(task)
    log, prompt = screen.page.locator(".log"), screen.page.locator(".prompt", has_text="Prompt number 0.")
    for _ in range(2):
        await log.evaluate("(log) => { log.dispatchEvent(new WheelEvent('wheel')); log.scrollTop = 0 }")
        await prompt.wait_for()
        await log.evaluate("(log) => { log.scrollTop = 100_000 }")
        await prompt.wait_for(state="detached")
        await screen.page.wait_for_function(f"() => ({ROW})(0).then((row) => !row)")


async def test_rows_that_were_asked_for_come_although_the_connection_broke(server, opened, golden: Path):
    task = long_task(server, golden, turns=10 * TURNS)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.evaluate(
        "async () => { const { drop } = await import(early.base + 'static/js/lib/connection.js');"
        " const log = document.querySelector('.log'); log.dispatchEvent(new WheelEvent('wheel')); drop();"
        " log.scrollTop = 0 }"
    )
    await screen.page.locator(".prompt", has_text="Prompt number 0.").wait_for()


async def test_a_task_that_is_opened_again_shows_the_place_at_which_it_was_left(server, opened, golden: Path):
    task = long_task(server, golden, turns=10 * TURNS)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".log").evaluate(
        "(log) => { log.dispatchEvent(new WheelEvent('wheel')); log.scrollTop = 80_000 }"
    )
    left, before = await screen.page.evaluate(IN_VIEW), ""
    while not left or left != before:  # what is above it has its height once it is drawn
        await screen.page.wait_for_timeout(300)
        left, before = await screen.page.evaluate(IN_VIEW), left
    await screen.page.evaluate("() => { location.hash = '#/history' }")
    await screen.page.locator(".log").wait_for(state="detached")
    await screen.page.evaluate("(task) => { location.hash = `#/task/${task}` }", task)
    await screen.page.wait_for_function(f"(left) => ({IN_VIEW})() === left", arg=left)


async def test_keys_go_from_prompt_to_prompt_also_where_none_is_drawn(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".log").focus()
    for number in range(TURNS - 1, TURNS - 61, -1):
        await screen.page.keyboard.press("[")
        await screen.page.locator(".prompt:focus", has_text=f"Prompt number {number}.").wait_for()


async def test_what_a_person_opened_stays_open_when_it_is_far_away(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".log").focus()
    await screen.page.keyboard.press("g")
    await screen.page.keyboard.press("g")
    card = screen.page.locator(".fold-line, .call-line").first
    was = await card.get_attribute("aria-expanded")
    await card.click()
    await screen.page.keyboard.press("G")
    await screen.page.wait_for_timeout(500)
    assert await card.get_attribute("aria-expanded") != was


async def test_find_searches_rows_that_were_not_there_yet(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.keyboard.press("Control+Shift+F")
    field = screen.page.get_by_label("Find in this task").locator("input")
    await field.fill("Prompt number 7.")
    await screen.sees("1 of 1", ".find-count")
    assert await screen.barriers() == []


async def test_the_top_of_a_long_task_is_its_first_row(server, opened, golden: Path):
    task = long_task(server, golden)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".log").focus()
    await screen.page.keyboard.press("g")
    await screen.page.keyboard.press("g")
    await screen.page.locator(".start").wait_for()
    await screen.page.wait_for_function("() => document.querySelector('.log').scrollTop === 0")


async def test_a_reply_that_was_cut_is_shown_whole_when_asked_for(server, opened):
    words = "A sentence of the reply.\n\n" * 1_800
    server.model({"text": f"{words}Here is its middle.\n\n{words}", "chunk": 20_000})
    await server.start()
    screen = await opened()
    await screen.say("Say much.")
    await screen.ended()
    assert "Here is its middle." not in await screen.transcript()
    assert "characters are not shown" in await screen.transcript()
    await screen.page.get_by_role("button", name="Show full reply").click()
    await screen.sees("Here is its middle.")
    assert "characters are not shown" not in await screen.transcript()


async def test_a_message_with_a_long_pasted_text_is_edited_without_losing_any_of_it(server, opened, golden: Path):
    task = server.task(golden / "repair.jsonl")
    log = server.halo.home / "tasks" / task / "events.jsonl"
    events = [json.loads(line) for line in log.read_text().splitlines()]
    started = next(event for event in events if event["type"] == "turn_started")
    pasted = {"type": "note", "text": "line\n" * 30_000, "source": "pasted"}
    started["content"] = [{"type": "text", "text": "Look at it."}, pasted]
    log.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    server.model({"text": "I see."})
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.locator(".prompt").hover()
    await screen.page.get_by_label("Edit and resend").click()
    await screen.page.get_by_role("button", name="Rewind and send").click()
    await screen.page.wait_for_function(
        "async () => (await import(early.base + 'static/js/state/store.js')).current.value.facts.prompts.length === 2"
    )
    sent = [json.loads(line) for line in log.read_text().splitlines() if '"turn_started"' in line][-1]
    assert sent["content"][-1] == pasted


async def test_a_task_is_printed_as_a_light_document_whole_and_without_the_page_around_it(server, opened, golden):
    task = long_task(server, golden, 60)
    await server.start()
    screen = await opened(theme="dark")
    await screen.task(task)
    document = PdfDocument(await screen.page.pdf(print_background=True))
    assert len(document) > 3
    text = "".join(page.get_textpage().get_text_range() for page in document)
    for said in ["The test fails.", *(f"Prompt number {number}." for number in range(60)), "Changed", "shop.py"]:
        assert said in text
    assert "Settings" not in text
    assert document[0].render().to_pil().getpixel((5, 5)) >= (240, 240, 240)
    assert await screen.page.locator(".printed").count() == 0


async def two_tasks(server: Server, opened, golden: Path) -> tuple[Screen, Locator]:
    """A page with a long task open, and what prints another one in its menu."""
    server.task(golden / "repair.jsonl", "261121-130000-gold")
    task = long_task(server, golden, 3)
    await server.start()
    screen = await opened()
    await screen.task(task)
    await screen.page.evaluate(PRINTS)
    other = screen.page.locator(".task-item", has_not=screen.page.locator(".task-link.here"))
    await other.hover()
    await other.locator(".task-more").click()
    return screen, screen.page.get_by_role("menuitem", name="Print…")


async def test_a_task_is_printed_from_its_menu_and_the_open_one_from_the_palette(server, opened, golden):
    screen, other = await two_tasks(server, opened, golden)
    await other.click()
    await screen.page.keyboard.press("Control+k")
    await screen.page.locator("dialog input").fill("print this")
    await screen.page.locator(".pick.on", has_text="Print this task").wait_for()
    await screen.page.keyboard.press("Enter")
    await screen.page.wait_for_function("() => papers.length === 2")
    closed, shown = await screen.page.evaluate("papers")
    assert "The test fails." in closed
    assert "Prompt number 2." not in closed
    assert "Prompt number 2." in shown


async def test_a_print_of_another_task_that_tells_no_event_is_not_what_the_browser_prints_later(server, opened, golden):
    screen, other = await two_tasks(server, opened, golden)
    await screen.page.evaluate("() => { window.print = () => {} }")
    await other.click()
    text = "".join(page.get_textpage().get_text_range() for page in PdfDocument(await screen.page.pdf()))
    assert "Prompt number 2." in text


async def test_a_task_that_does_not_load_is_not_printed_and_that_is_said(server, opened, golden):
    screen, other = await two_tasks(server, opened, golden)
    await screen.page.route("**/export/**", lambda route: route.fulfill(status=204))
    await other.click()
    await screen.sees("The task did not load for printing.", ".toasts")
    assert await screen.page.evaluate("papers") == []
