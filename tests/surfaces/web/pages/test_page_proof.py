"""What the log proves about a turn stands at its end, and what it contradicts in the reply stands out."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.test_page_hostile_calls import call, shell

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize(("width", "theme"), [(320, "dark"), (1100, "light")])
async def test_a_claim_that_the_log_contradicts_is_marked_and_the_facts_open_below_it(server, opened, width, theme):
    write, test = call("write_to_file", path="new.txt", content="x"), shell("python3 -m unittest nothing_here")
    model = server.halo.script({"call": [write]}, {"call": [test]}, {"text": "All tests pass."})
    server.settings(f'model = "{model}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened(width=width, theme=theme)
    await screen.say("Test it.")
    await screen.sees("Not confirmed: `python3 -m unittest nothing_here` ended with exit 1")
    facts = screen.page.locator(".turn-end details")
    await facts.locator("summary").click()
    shown = await facts.inner_text()
    assert ("new.txt new" in shown, "After the last edit" in shown, "exit 1" in shown) == (True, True, True)
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
