"""What a person typed, attached or read is there: after a kill of the server, a reload, and beside another tab."""

import re

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_what_a_page_showed_of_a_reply_is_there_after_the_server_was_killed(server, opened):
    server.model({"text": "".join(f"Line {number}.\n\n" for number in range(400)), "pace": 0.03, "chunk": 10})
    await server.start()
    screen = await opened()
    await screen.say("Count.")
    await screen.sees("Line 12.", ".log")
    server.process.kill()
    await server.process.wait()
    shown = lines_in(await screen.transcript())
    await screen.page.goto("about:blank")
    screen.problems.clear()  # the connection broke
    await server.start()
    other = await opened()
    await other.task(next(server.halo.home.joinpath("tasks").glob("*/events.jsonl")).parent.name)
    await other.sees("Line 12.", ".log")
    kept = lines_in(await other.transcript())
    assert len(shown) >= 12
    assert kept[: len(shown) - 1] == shown[:-1]
    screen.problems.clear()  # its worker looked for the server a moment longer


def lines_in(text):
    return re.findall(r"Line \d+\.", text)


async def test_two_tabs_on_a_task_have_a_draft_each_and_the_next_tab_gets_that_of_a_closed_one(server, opened):
    server.model({"text": "Well."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    place = screen.page.url
    await screen.composer.fill("of the first tab")
    second = await screen.context.new_page()
    await second.goto(place)
    field = second.locator(".composer textarea")
    await second.locator("[data-told=yes]").wait_for()
    assert await field.input_value() == ""
    await field.fill("of the second tab")
    for page, text in ((screen.page, "of the first tab"), (second, "of the second tab")):
        await page.reload()
        await page.locator("[data-told=yes]").wait_for()
        await page.wait_for_function("(text) => document.querySelector('.composer textarea')?.value === text", arg=text)
    await second.close()
    third = await screen.context.new_page()
    await third.goto(place)
    await third.wait_for_function("() => document.querySelector('.composer textarea')?.value === 'of the second tab'")
    await screen.page.reload()
    await screen.page.wait_for_function(
        "() => document.querySelector('.composer textarea')?.value === 'of the first tab'"
    )


async def test_a_draft_that_is_too_long_to_be_written_with_every_key_is_there_after_a_reload(server, opened):
    await server.start()
    screen = await opened()
    text = "A long line of a draft. " * 1_000
    await screen.composer.evaluate(
        "(box, text) => { box.value = text; box.dispatchEvent(new Event('input', {bubbles: true})) }", text
    )
    await screen.page.keyboard.press("End")
    await screen.page.reload()
    await screen.page.locator("[data-ready=open]").wait_for()
    assert (await screen.composer.input_value()).strip() == text.strip()


async def test_an_attached_file_is_named_in_its_prompt(server, opened):
    server.model({"text": "Well."})
    await server.start()
    screen = await opened()
    await screen.composer.fill("Look at this.")
    async with screen.page.expect_file_chooser() as chooser:
        await screen.page.get_by_role("button", name="Attach").click()
    await (await chooser.value).set_files({"name": "app.py", "mimeType": "text/x-python", "buffer": b"print(1)\n"})
    await screen.sees("app.py", ".composer")
    await screen.composer.press("Enter")
    await screen.ended()
    await screen.sees("[app.py: a file of 9 bytes]", ".prompt")
    await screen.page.get_by_role("button", name="Edit and resend").first.press("Enter")
    assert await screen.page.locator("dialog textarea").input_value() == "Look at this."
