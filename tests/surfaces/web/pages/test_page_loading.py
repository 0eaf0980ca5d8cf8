"""Each file of the page may fail to load: what needs it comes all the same, at the latest when the network is back."""

import pytest
from playwright.async_api import Route
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call

from halocline.surfaces.web.static_files import STATIC

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

NO_PARTS = ("diagram.js", "worker.js", "js/early.js", "js/editor.js")
"""Scripts that other documents load."""
PARTS = sorted(
    name
    for path in STATIC.rglob("*.js")
    if (name := path.relative_to(STATIC).as_posix()) not in NO_PARTS and not name.startswith("vendor/")
)
REPLY = "A formula $a^2 = b$ and code:\n\n```python\nprint(1)\n```\n"
LOAD_ALL = """async (names) => {
  const { $js_lib_parts: parts } = await import(early.base + 'static/first.js')
  const load = (name) => parts.definePart(() => import(early.base + 'static/' + name))()
  const ends = await Promise.allSettled(names.map(load))
  return names.filter((_, at) => ends[at].status !== 'fulfilled')
}"""


class Failing:
    """Aborts the first request of each address."""

    def __init__(self) -> None:
        self.failed: set[str] = set()

    async def handle(self, route: Route) -> None:
        address = route.request.url
        if address in self.failed:
            await route.continue_()
        else:
            self.failed.add(address)
            await route.abort()


async def open_without_worker(opened):
    """Open a page whose requests are all its own, so that they can be made to fail."""
    screen = await opened()
    await screen.page.add_init_script("delete Navigator.prototype.serviceWorker")
    await screen.page.reload()
    await screen.page.locator("[data-ready=open]").wait_for()
    return screen


def forget_failed_requests(screen) -> None:
    screen.problems[:] = [problem for problem in screen.problems if "ERR_FAILED" not in problem]


async def test_every_module_comes_although_its_first_request_fails(server, opened):
    await server.start()
    screen, failing = await open_without_worker(opened), Failing()
    await screen.page.route("**/static/**", failing.handle)
    await screen.page.reload()
    await screen.page.locator("[data-ready=open]").wait_for()
    assert await screen.page.evaluate(LOAD_ALL, PARTS) == []
    assert {address.split("/static/")[1] for address in failing.failed} >= {*PARTS, "task.js", "pages.js", "first.css"}
    forget_failed_requests(screen)


async def test_a_task_is_drawn_and_styled_although_each_of_its_files_fails_at_first(server, opened):
    turns = ({"call": [call("write_to_file", path="a.py", content="print(1)\n")]}, {"text": REPLY})
    server.settings(f'model = "{server.halo.script(*turns)}"\napproval_mode = "yolo"\n')
    await server.start()
    screen, failing = await open_without_worker(opened), Failing()
    await screen.page.route("**/static/**", failing.handle)
    await screen.say("Write it.")
    await screen.ended()
    await screen.page.locator("math").first.wait_for()
    await screen.page.locator(".hljs-built_in, .hljs-title").first.wait_for()
    await screen.page.locator(".log-inside").wait_for()
    await screen.page.wait_for_function(
        "() => [...document.styleSheets].some((sheet) => sheet.href?.endsWith('transcript.css'))"
    )
    forget_failed_requests(screen)


async def test_a_part_that_does_not_load_says_so_and_comes_when_asked_again_or_when_the_network_is_back(server, opened):
    await server.start()
    screen = await open_without_worker(opened)
    await screen.page.route("**/history/history.js", lambda route: route.abort())
    await screen.go("history")
    again = screen.page.get_by_role("button", name="Try again")
    await again.wait_for()
    await screen.page.unroute("**/history/history.js")
    await again.click()
    await screen.page.locator(".page h1").get_by_text("History").wait_for()

    await screen.page.route("**/settings/settings.js", lambda route: route.abort())
    await screen.go("settings")
    await again.wait_for()
    await screen.page.unroute("**/settings/settings.js")
    await screen.page.evaluate("() => dispatchEvent(new Event('online'))")
    await screen.page.locator(".page h1").get_by_text("Settings").wait_for()
    forget_failed_requests(screen)


async def test_what_was_typed_stays_when_the_part_that_sends_it_does_not_load(server, opened):
    await server.start()
    screen = await open_without_worker(opened)
    await screen.page.route("**/composer/slash-commands.js", lambda route: route.abort())
    await screen.say("/agents")
    await screen.sees("A part of the page did not load.")
    assert await screen.composer.input_value() == "/agents"
    forget_failed_requests(screen)
