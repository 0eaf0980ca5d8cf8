"""Writing in the page by keyboard: mentions, words, files, a queue, and words that are never lost."""

import asyncio

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Screen

from halocline.protocol import events as ev
from halocline.protocol.messages import Note, Text
from halocline.task.log import read_log

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

OF_THE_LINE = ("WebSocket", "ERR_CONNECTION_REFUSED")
"""What Chromium writes into its console where a server is away."""

SLOW = {"text": "Working on it.", "delay": 2.5}
PASTE = """(text) => {
  const data = new DataTransfer()
  data.setData('text/plain', text)
  const event = new ClipboardEvent('paste', {bubbles: true, cancelable: true, clipboardData: data})
  document.querySelector('.composer textarea').dispatchEvent(event)
}"""
PICTURE = """async () => {
  const canvas = document.createElement('canvas')
  const data = new DataTransfer()
  const picture = await new Promise((done) => canvas.toBlob(done))
  data.items.add(new File([picture], 'drawing.png', {type: 'image/png'}))
  document.querySelector('.composer').dispatchEvent(new DragEvent('drop', {bubbles: true, dataTransfer: data}))
}"""
DROP = """(files) => {
  const data = new DataTransfer()
  for (const [name, type, text] of files) data.items.add(new File([text], name, {type}))
  document.querySelector('.composer').dispatchEvent(new DragEvent('drop', {bubbles: true, dataTransfer: data}))
}"""


def said(server) -> list[tuple]:
    """What the prompts of the newest task were made of."""
    log = max((server.halo.home / "tasks").glob("*/events.jsonl"))
    return [event.content for event in read_log(log) if isinstance(event, ev.TurnStarted)]


def texts(server) -> list[str]:
    return ["".join(part.text for part in content if isinstance(part, Text)) for content in said(server)]


async def value(screen: Screen) -> str:
    return await screen.composer.input_value()


async def test_a_file_is_mentioned_by_a_few_letters_and_quoted_where_its_name_needs_it(server, opened):
    (server.halo.folder / "src").mkdir()
    (server.halo.folder / "src" / "parser.py").write_text("x = 1\n")
    (server.halo.folder / "my notes.txt").write_text("a\n")
    server.model({"text": "Read.", "expect": ["x = 1"]})
    await server.start()
    screen = await opened()
    await screen.composer.press_sequentially("See @prs")
    await screen.page.locator(".offer.on", has_text="parser.py").wait_for()
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Tab")
    assert await value(screen) == "See @src/parser.py "
    await screen.page.keyboard.type("and @notes")
    await screen.page.locator(".offer.on", has_text="my notes.txt").wait_for()
    await screen.page.keyboard.press("Enter")
    assert await value(screen) == 'See @src/parser.py and @"my notes.txt" '
    await screen.page.keyboard.type("@nothing-is-so-called")
    await screen.sees("No file, folder, commit or task matches")
    await screen.page.keyboard.press("Escape")
    await screen.composer.fill("See @src/parser.py")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Read.")


async def test_words_with_a_slash_are_answered_by_the_page_and_their_values_offered(server, opened):
    server.model({"text": "One."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    await screen.composer.press_sequentially("/mod")
    await screen.page.locator(".offer", has_text="/mode").first.wait_for()
    await screen.composer.fill("")
    await screen.composer.press_sequentially("/mode pl")
    await screen.page.locator(".offer.on", has_text="plan").wait_for()
    await screen.page.keyboard.press("Tab")
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".mode", has_text="Plan").wait_for()
    await screen.say("/help")
    await screen.sees("Slash commands", "dialog")
    await screen.page.keyboard.press("Escape")
    assert await screen.page.evaluate("() => document.activeElement.id") == "composer"
    assert texts(server) == ["Begin."]


async def test_a_long_paste_and_a_dropped_file_go_along_whole(server, opened):
    server.model({"text": "Got both.", "expect": ["line 29", "from a file"]})
    await server.start()
    screen = await opened()
    await screen.composer.fill("Look: ")
    await screen.page.evaluate(PASTE, "\n".join(f"line {n}" for n in range(30)))
    await screen.page.locator(".given", has_text="pasted 30 lines").wait_for()
    assert await value(screen) == "Look: [pasted 30 lines]"
    await screen.page.evaluate(DROP, [["notes.txt", "text/plain", "from a file\n"]])
    await screen.page.locator(".given", has_text="12 B").wait_for()
    assert await screen.barriers() == []
    await screen.page.keyboard.press("Enter")
    await screen.sees("Got both.")
    (content,) = said(server)
    assert [part.source for part in content if isinstance(part, Note)][:2] == ["pasted", "pasted"]
    assert await screen.page.locator(".given").count() == 0


async def test_a_picture_for_a_model_that_sees_none_is_said_before_it_is_sent(server, opened):
    server.model({"text": "Seen."})
    await server.start()
    screen = await opened()
    await screen.page.evaluate(PICTURE)
    await screen.page.locator(".given img").wait_for()
    await screen.sees("does not accept images", ".blind")
    assert await screen.barriers() == []
    await screen.page.get_by_role("button", name="Remove drawing.png").click()
    assert await screen.page.locator(".blind").count() == 0


async def test_what_waits_can_be_changed_and_goes_out_one_by_one_as_turns_end(server, opened):
    server.model(SLOW | {"delay": 12}, {"text": "Second."}, {"text": "Third."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.page.locator(".prompt").wait_for()
    for text in ("b", "a", "never"):
        await screen.say(text)
    await screen.page.locator(".queued").nth(2).get_by_role("button", name="Remove").click()
    await screen.page.locator(".queued").nth(1).get_by_role("button", name="Move up").click()
    await screen.page.locator(".queued").nth(0).get_by_text("a", exact=True).wait_for()
    await screen.page.locator(".queued").nth(0).get_by_role("button", name="Edit").click()
    await screen.page.locator(".queued textarea:focus").wait_for()
    await screen.page.keyboard.press("Control+A")
    await screen.page.keyboard.type("a, but changed")
    await screen.page.keyboard.press("Enter")
    assert await screen.barriers() == []
    await screen.sees("Third.")
    await screen.ended()
    assert texts(server) == ["Begin.", "a, but changed", "b"]


async def test_a_queue_outlives_a_reload_and_is_held_after_a_stop(server, opened):
    server.model({"text": "Long.", "delay": 30})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.page.locator(".prompt").wait_for()
    await screen.say("Later, please.")
    await screen.page.locator(".queued").wait_for()
    await screen.page.reload()
    await screen.page.locator(".queued", has_text="Later, please.").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.sees("Held until you send it: a turn was stopped or failed")
    assert texts(server) == ["Begin."]
    await screen.page.get_by_label("Held messages").get_by_role("button", name="Send all").click()
    await screen.page.locator(".prompt", has_text="Later, please.").wait_for()
    assert texts(server) == ["Begin.", "Later, please."]


async def test_steering_is_shown_until_the_turn_has_heard_it(server, opened):
    call = {"tool": "execute_command", "arguments": {"command": "sleep 2", "requires_approval": False}}
    server.model({"call": [call]}, {"text": "Heard you.", "expect": ["Mind the gap"]})
    server.settings(
        f'model = "{server.halo.script({"call": [call]}, {"text": "Heard you."})}"\napproval_mode = "yolo"\n'
    )
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.page.locator(".prompt").wait_for()
    await screen.composer.fill("Mind the gap")
    await screen.page.keyboard.press("Control+Enter")
    await screen.sees("Delivered before the next request")
    await screen.sees("Heard you.")
    await screen.page.locator(".strip").wait_for(state="detached")


async def test_what_is_said_without_a_line_is_sent_once_when_it_is_back_even_after_a_reload(server, opened):
    server.model({"text": "First."}, {"text": "Second."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    await screen.context.set_offline(True)
    await server.stop()
    await screen.page.locator("[data-ready=lost]").wait_for()
    await screen.say("Said into the dark.")
    await screen.sees("Sends when reconnected")
    await screen.context.set_offline(False)
    screen.problems.clear()
    await server.start()
    await screen.page.goto("about:blank")
    await screen.page.goto(server.address)
    await screen.page.locator("[data-ready=open]").wait_for()
    for _ in range(100):
        if len(texts(server)) == 2:
            break
        await asyncio.sleep(0.1)
    assert texts(server) == ["Begin.", "Said into the dark."]
    screen.problems[:] = [problem for problem in screen.problems if not any(word in problem for word in OF_THE_LINE)]


async def test_a_reload_without_the_server_shows_the_task_as_it_was(server, opened):
    server.model({"text": "All is well."}, {"text": "Back again."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    await screen.page.locator("[data-kept=yes]").wait_for()
    await screen.page.wait_for_function("() => navigator.serviceWorker.controller")
    await server.stop()
    await screen.page.locator("[data-ready=lost]").wait_for()
    await screen.page.reload()
    await screen.sees("Read-only copy")
    await screen.sees("All is well.", ".log")
    await screen.page.locator(".sidebar .task-link", has_text="Begin.").wait_for()
    assert await screen.barriers() == []
    await screen.page.goto("about:blank")  # it asks again for what did not come
    screen.problems[:] = [problem for problem in screen.problems if not any(word in problem for word in OF_THE_LINE)]


async def test_earlier_prompts_come_back_by_arrow_and_by_search(server, opened):
    server.model({"text": "One."}, {"text": "Two."})
    await server.start()
    screen = await opened()
    await screen.say("The very first")
    await screen.sees("One.")
    await screen.ended()
    await screen.say("Another one")
    await screen.sees("Two.")
    await screen.composer.press("ArrowUp")
    assert await value(screen) == "Another one"
    await screen.composer.press("ArrowUp")
    assert await value(screen) == "The very first"
    await screen.composer.press("ArrowDown")
    await screen.composer.press("ArrowDown")
    assert await value(screen) == ""
    await screen.composer.press("Control+;")
    await screen.page.locator("dialog input:focus").wait_for()
    await screen.page.keyboard.type("first")
    await screen.page.locator(".pick.on", has_text="The very first").wait_for()
    await screen.page.keyboard.press("Enter")
    assert await value(screen) == "The very first"


DRAG = """([kind, place]) => {
  const data = new DataTransfer()
  data.items.add(new File(['hello'], 'dropped.txt', { type: 'text/plain' }))
  const given = { bubbles: true, cancelable: true, dataTransfer: data }
  return document.querySelector(place).dispatchEvent(new DragEvent(kind, given))
}"""


@pytest.mark.parametrize("place", [".log", ".task-head", ".sidebar", ".composer textarea"])
async def test_a_file_that_is_dropped_anywhere_is_attached(place, server, opened):
    server.model({"text": "Hello."})
    await server.start()
    screen = await opened()
    await screen.say("Hi.")
    await screen.ended()
    assert await screen.page.evaluate(DRAG, ["dragover", place]) is False
    await screen.page.locator(".composer.dragged").wait_for()
    assert await screen.page.evaluate(DRAG, ["drop", place]) is False  # the browser does not open it
    await screen.sees("dropped.txt", ".composer")
    assert await screen.page.locator(".composer.dragged").count() == 0
