"""A finger hits everything: each target is 44 px high and wide, and no keys are named where there are none."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell
from tests.surfaces.web.pages.test_page_pages import PAGES

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SMALL = """() => {
  const targets = 'button, a[href], input, select, textarea, summary, [role=option], [role=menuitem], [role=tab]'
  const found = []
  for (const one of document.querySelectorAll(targets)) {
    const box = (/^(checkbox|radio)$/.test(one.type) && one.closest('label')) || one
    const { width, height } = box.getBoundingClientRect()
    if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || width <= 1) continue
    if (one.closest('.hidden-text, [inert]') || one.matches('.hidden-text') || one.className === 'skip') continue
    const inText = getComputedStyle(one).display.startsWith('inline') &&
      [...one.parentElement.childNodes].some((node) => node.nodeType === 3 && node.data.trim().length > 1)
    const name = (one.ariaLabel ?? one.textContent).trim().slice(0, 30)
    if (!inText && (width < 43.5 || height < 43.5))
      found.push(`${one.localName}.${one.className} “${name}” ${Math.round(width)}×${Math.round(height)}`)
  }
  return [...new Set(found)]
}"""


async def test_every_target_of_a_task_is_large_enough_for_a_finger_and_no_key_is_named(server, opened):
    turns = (
        {"call": [call("write_to_file", path="a.py", content="print(1)\n")]},
        {"text": "Now this.", "call": [shell("touch b", risky=True)]},
        {"text": "Done."},
    )
    server.model(*turns)
    await server.start()
    screen = await opened(width=390, touch=True)
    found = {f"home: {one}" for one in await screen.page.evaluate(SMALL)}
    await screen.say("Go.")
    approve = screen.page.locator("[data-decides] :is(.primary, .approves):enabled")
    await approve.first.wait_for()
    found |= {f"edit: {one}" for one in await screen.page.evaluate(SMALL)}
    assert await screen.page.locator("kbd:visible").count() == 0
    await approve.first.click()
    await screen.sees("touch b")
    await approve.first.wait_for()
    found |= {f"command: {one}" for one in await screen.page.evaluate(SMALL)}
    await approve.first.click()
    await screen.ended()
    found |= {f"end: {one}" for one in await screen.page.evaluate(SMALL)}
    await screen.page.get_by_role("button", name="Changes").first.click()
    await screen.page.locator("dialog.review-sheet[open]").wait_for()
    await screen.page.wait_for_timeout(300)
    found |= {f"review: {one}" for one in await screen.page.evaluate(SMALL)}
    assert sorted(found) == []


async def test_every_target_of_the_pages_is_large_enough_for_a_finger(server, opened, golden):
    server.task(golden / "repair.jsonl")
    (server.halo.home / "mcp.json").write_text('{"mcpServers": {"small": {"command": "small"}}}')
    (server.halo.folder / "AGENTS.md").write_text("# Ours\n\nBe brief.\n")
    await server.start()
    screen = await opened(width=390, touch=True)
    found = set()
    for path in PAGES:
        await screen.go(path)
        await screen.page.locator(".page h1").wait_for()
        await screen.page.wait_for_timeout(200)
        found |= {f"{path}: {one}" for one in await screen.page.evaluate(SMALL)}
    assert sorted(found) == []
