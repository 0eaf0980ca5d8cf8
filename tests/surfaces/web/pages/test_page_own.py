"""Commands of the person in the page: one begins a task, is seen to run, is stopped, and is told of with the next."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_command_of_the_person_begins_a_task_and_is_stopped_and_told(server, opened):
    server.model({"text": "I saw it.", "expect": ["The user ran this", "made it"]})
    await server.start()
    screen = await opened()
    await screen.composer.press_sequentially("!")
    await screen.sees("runs this command without approval", ".chips")
    await screen.say("!echo made it > own; cat own; echo '<b>bold</b>'")
    await screen.sees("exit code 0", ".call")
    await screen.sees("<b>bold</b>", ".call pre")
    await screen.sees("you", ".call .badge")
    assert (server.halo.folder / "own").read_text() == "made it\n"
    await screen.say("!echo on; sleep 1000")
    await screen.sees("on", ".call pre")
    await screen.page.get_by_title("Stop the command", exact=True).click()
    await screen.sees("stopped after", ".call")
    assert await screen.barriers() == []
    await screen.page.reload()
    await screen.page.locator("[data-told=yes]").wait_for()
    assert "stopped after" in await screen.transcript()
    await screen.say("what was that?")
    await screen.sees("I saw it.")
    await screen.ended()
