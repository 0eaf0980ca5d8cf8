"""What throws while it is drawn is replaced by some words; everything around it lives."""

import re
from posixpath import normpath
from typing import get_args

import msgspec
import pytest
from tests.hosts.chromium import needs_chromium

from halocline.surfaces.rows.kinds import Row
from halocline.surfaces.web.static_files import STATIC

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

KINDS = sorted(msgspec.inspect.type_info(kind).tag for kind in get_args(Row))
VIEWS = {
    name: normpath(f"js/shell/{module}")
    for name, module in re.findall(
        r"^  '?([\w-]+)'?: definePart\(\(\) => import\('([^']+)'\)\)",
        (STATIC / "js" / "shell" / "shell.js").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
"""The module of each page and sheet that the table in shell.js names."""
PAGES = ("board", "history", "settings", "providers", "mcp", "rules")
BROKEN = "export default function Broken() { throw new Error('broken') }"

# A row that throws when a card reads it; what is read before, to arrange the rows, is there.
THROW = """async ([id, kind]) => {
  const load = async (bundle) => import(early.base + 'static/' + bundle)
  const { $js_state_store: store } = await load('first.js')
  const task = store.taskOf(id)
  const arranged = ['left', 'kind', 'status', 'approval', 'lanes', 'name', 'by', 'call', 'draft']
  const broken = (type) => new Proxy({ type, toJSON: () => type }, {
    get(row, field) {
      if (field in row) return row[field]
      if (arranged.includes(field) || typeof field === 'symbol') return undefined
      throw new Error(`broken ${field}`)
    },
  })
  task.rows = [...task.rows, broken(kind)]
  task.changed()
}"""

OPEN = """async ([name, pages]) => {
  const { $js_state_store: store } = await import(early.base + 'static/first.js')
  if (pages.includes(name)) return store.go(name)
  store.openSheet(name, { task: store.current.peek(), choice: {}, row: {}, path: '.' })
}"""
BREAK_TASK = """async () => {
  const { $js_state_store: store } = await import(early.base + 'static/first.js')
  const task = store.taskOf('261121-120000-other')
  task.refused = { get value() { throw new Error('broken') }, set value(_) {} }
  store.go('task', task.id)
}"""


def forget_what_broke(screen) -> None:
    screen.problems[:] = [problem for problem in screen.problems if "broken" not in problem]


async def open_task(server, opened):
    server.model({"text": "All is well."})
    await server.start()
    screen = await opened()
    await screen.say("Is it?")
    await screen.ended()
    return screen, (await screen.page.evaluate("() => location.hash")).split("/")[-1]


async def test_a_row_of_any_kind_that_throws_is_a_row_of_words_and_all_others_are_drawn(server, opened):
    screen, task = await open_task(server, opened)
    rows = screen.page.locator(".chunk > .undrawn")
    for count, kind in enumerate(KINDS):
        await screen.page.evaluate(THROW, [task, kind])
        await rows.nth(count).wait_for()
    assert await rows.first.get_by_role("button").all_text_contents() == ["Try again", "Copy details"]
    await screen.sees("All is well.", ".reply")
    await screen.say("Again.")
    await screen.page.locator(".prompt").nth(1).wait_for()
    assert await screen.barriers() == []
    forget_what_broke(screen)


async def test_a_page_or_sheet_that_throws_says_so_and_comes_when_it_is_tried_again(server, opened):
    screen, _task = await open_task(server, opened)
    await screen.page.add_init_script("delete Navigator.prototype.serviceWorker")
    await screen.page.reload()
    await screen.sees("All is well.", ".reply")
    for name, module in VIEWS.items():
        address = f"**/static/{module}"
        await screen.page.route(address, lambda route: route.fulfill(body=BROKEN, content_type="text/javascript"))
        await screen.page.evaluate(OPEN, [name, PAGES])
        words = screen.page.get_by_role("alert").filter(has_text="This view could not be drawn.")
        await words.wait_for()
        assert (name in PAGES) == (await screen.page.get_by_text("All is well.").count() == 0)
        await words.get_by_role("button", name="Try again").click(trial=True)
        if name in PAGES:
            await screen.page.evaluate("() => history.back()")
        else:
            await words.get_by_role("button", name="Close").click()
        await words.wait_for(state="detached")
        await screen.sees("All is well.", ".reply")
        await screen.page.unroute(address)
    forget_what_broke(screen)


async def test_a_task_whose_facts_cannot_be_drawn_leaves_no_other_task_on_the_screen(server, opened):
    screen, _task = await open_task(server, opened)
    await screen.page.evaluate(BREAK_TASK)
    await screen.page.get_by_role("alert").first.wait_for()
    assert "All is well." not in await screen.page.locator("main").inner_text()
    await screen.page.locator(".sidebar").get_by_text("Is it?").click()
    await screen.sees("All is well.", ".reply")
    forget_what_broke(screen)
