"""A person who hears the page: all is found by role and name, and changes are said in their order."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call
from tests.surfaces.web.pages.screen import Screen

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HEAR = """() => {
  const region = document.querySelector('[role=status][aria-live=polite]')
  window.heard = []
  new MutationObserver(() => window.heard.push(region.textContent))
    .observe(region, {subtree: true, characterData: true, childList: true})
}"""


async def heard(screen: Screen) -> list[str]:
    return await screen.page.evaluate("() => window.heard")


async def test_a_task_is_run_and_an_edit_approved_by_what_is_heard_alone(server, opened):
    (server.halo.folder / "a.txt").write_text("one\n")
    server.model(
        {"call": [call("read_file", path="a.txt")]},
        {"call": [call("write_to_file", path="a.txt", content="two\n")]},
        {"text": "It says two now."},
    )
    await server.start()
    screen = await opened()
    page, folder = screen.page, server.halo.folder
    await page.evaluate(HEAR)
    message = page.get_by_role("textbox", name="Message")
    await message.fill("Change it.")
    await page.get_by_role("button", name="Send").press("Enter")
    needed = page.get_by_role("region", name="Approval needed")
    await needed.wait_for()
    log = page.get_by_role("log", name="Transcript")
    edit = log.get_by_role("article", name="Write a.txt")
    change = await edit.get_by_role("group", name="line 1").first.inner_text()
    assert "one" in change
    assert "two" in change
    await page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    await needed.get_by_role("button", name="Approve").press("Enter")
    await log.get_by_role("article", name="Agent").get_by_text("It says two now.").wait_for()
    assert await message.evaluate("(box) => box === document.activeElement")
    assert (folder / "a.txt").read_text() == "two\n"
    await page.wait_for_function("() => window.heard.at(-1).includes('Done')")
    said = ". ".join(await heard(screen))
    wanted = ("Sent", "Approval needed: Write a.txt", "Approved", "Done. 1 file changed")
    places = [said.find(words) for words in wanted]
    assert places == sorted(places), said
    assert [said.count(words) for words in wanted] == [1, 1, 1, 1], said
