"""The widths of panes, and the time of what was said."""

import re

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def width(screen, selector):
    return round((await screen.page.locator(selector).bounding_box())["width"])


async def test_the_list_of_tasks_is_made_wider_and_stays_so(server, opened):
    await server.start()
    screen = await opened()
    bar = screen.page.get_by_role("separator", name="Width of the task list")
    assert await width(screen, ".sidebar") == 264
    await bar.focus()
    await screen.page.keyboard.press("ArrowRight")
    assert await width(screen, ".sidebar") == 280
    box = await bar.bounding_box()
    await screen.page.mouse.move(box["x"] + 4, 300)
    await screen.page.mouse.down()
    await screen.page.mouse.move(400, 300)
    await screen.page.mouse.up()
    await screen.page.mouse.move(700, 300)
    assert await width(screen, ".sidebar") == 400
    assert await screen.barriers() == []
    await screen.page.reload()
    await screen.page.locator(".sidebar").wait_for()
    assert await width(screen, ".sidebar") == 400
    for key, wide in (("End", 480), ("Home", 200), ("Enter", 264)):
        await bar.press(key)
        assert await width(screen, ".sidebar") == wide
    await screen.page.set_viewport_size({"width": 390, "height": 800})
    assert await screen.page.locator(".resizer:visible").count() == 0
    assert not await screen.scrolls_sideways()


async def test_the_changes_are_made_wider(server, opened):
    server.model({"text": "Done."})
    await server.start()
    screen = await opened()
    await screen.say("Hello.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Changes:").click()
    await screen.page.locator("aside.review").wait_for()
    before = await width(screen, ".review")
    await screen.page.get_by_role("separator", name="Width of the column on the right").press("ArrowLeft")
    assert await width(screen, ".review") == before + 16


async def test_prompts_and_ends_of_turns_have_their_time(server, opened):
    server.model({"text": "Hello."})
    await server.start()
    screen = await opened()
    await screen.say("Hi.")
    await screen.ended()
    times = screen.page.locator("time")
    assert await times.count() == 2
    for at in await times.all():
        assert re.fullmatch(r"\d\d:\d\d", (await at.text_content()).strip())
    assert await screen.barriers() == []


OUTSIDE = """() => {
  const box = document.querySelector('.composer').getBoundingClientRect()
  const parts = [...document.querySelector('.composer-bar').querySelectorAll('button, select')]
  const rects = parts.map((one) => one.getBoundingClientRect()).map(
    ({ left, right, top, bottom }) => ({ left, right, top, bottom }))
  const name = (at) => parts[at].getAttribute('aria-label') ?? parts[at].textContent.trim()
  const out = []
  rects.forEach((one, at) => {
    if (one.right === one.left) return
    if (one.left < box.left || one.right > box.right || one.bottom > box.bottom) out.push(`${name(at)} is outside`)
    rects.slice(0, at).forEach((other, before) => {
      const over = (low, high) => one[low] < other[high] - 0.5 && other[low] < one[high] - 0.5
      if (over('left', 'right') && over('top', 'bottom')) out.push(`${name(at)} covers ${name(before)}`)
    })
  })
  const model = document.querySelector('.model-chip .cut')
  if (model.clientWidth < Math.min(model.scrollWidth, 50)) out.push('the model has no room')
  return out
}"""


async def test_the_buttons_of_the_composer_have_room_at_every_width_beside_the_changes_and_while_a_turn_runs(
    server, opened
):
    server.model({"text": "a b c d e f g h i j k l m n o p", "pace": 5}, {"text": "Two."})
    server.settings(server.halo.home.joinpath("settings.toml").read_text() + 'approval_mode = "yolo"\n')
    await server.start()
    screen = await opened(width=1500)
    await screen.say("Hello.")
    await screen.page.get_by_role("button", name="Stop").wait_for()
    found = []
    for changes in (False, True):
        await screen.page.set_viewport_size({"width": 1500, "height": 800})
        if changes:
            await screen.page.get_by_role("button", name="Changes:").click()
        for width in (1500, 1280, 1150, 1100, 1050, 980, 900, *(() if changes else (768, 600, 480, 390, 320))):
            await screen.page.set_viewport_size({"width": width, "height": 800})
            found += [f"{width} {changes}: {what}" for what in await screen.page.evaluate(OUTSIDE)]
    assert found == []
    await screen.page.get_by_role("button", name="Stop").click()
    await screen.ended()
