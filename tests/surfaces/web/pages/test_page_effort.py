"""How hard the model thinks, beside the model: chosen before a task begins, changed in it, kept over a reload."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.servers.model_server import ModelServer, Turn

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_an_effort_is_chosen_for_a_task_and_changed_in_it(server, opened):
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as models:
        server.settings(f'model = "openai/gpt-5.1"\nbase_url = "{models.url("openai")}"\n')
        await server.start()
        screen = await opened()
        menu = screen.page.get_by_label("Effort")
        await menu.select_option("low")
        await screen.say("Hello.")
        await screen.ended()
        assert await menu.input_value() == "low"
        await menu.select_option("high")
        await screen.sees("Effort: high", ".log-inside")
        assert await screen.barriers() == []
        await screen.page.reload()
        await screen.page.locator("[data-told=yes]").wait_for()
        await menu.wait_for()
        assert await menu.input_value() == "high"
        await screen.say("And now?")
        await screen.sees("Two.")
        asked = [request.body.get("reasoning_effort") for request in models.requests]
    assert asked == ["low", "high"]
