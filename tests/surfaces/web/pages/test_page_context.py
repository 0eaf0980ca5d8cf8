"""The context sheet: where a conversation is compacted is a marker under the bar."""

import tomllib

import pytest
from tests.hosts.chromium import needs_chromium
from tests.servers.model_server import ModelServer, Turn

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_moved_marker_changes_when_to_compact_once_it_is_saved(server, opened):
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as models:
        server.settings(f'model = "openai/gpt-5.1"\nbase_url = "{models.url("openai")}"\n')
        await server.start()
        screen = await opened()
        await screen.say("Hello.")
        await screen.ended()
        await screen.page.locator(".meter").click()
        marker = screen.page.get_by_label("Compact automatically at this part of the window")
        await marker.wait_for()
        await marker.fill("40")
        await screen.sees("Compact automatically at 40 %")
        assert "at" not in chosen(server)
        assert await screen.barriers() == []
        await screen.page.get_by_role("button", name="Save", exact=True).click()
        await screen.sees("applies from the next prompt")
        assert chosen(server) == {"at": 0.4}
        await screen.page.keyboard.press("Escape")
        await screen.say("Again.")
        await screen.ended()
        await screen.page.locator(".meter").click()
        await marker.wait_for()
        assert await marker.input_value() == "40"
        await screen.page.get_by_role("button", name="Use the default").click()
        await screen.page.get_by_role("button", name="Use the default").wait_for(state="detached")
        assert "at" not in chosen(server)


def chosen(server):
    return tomllib.loads((server.halo.home / "settings.toml").read_text()).get("compaction", {})


async def test_a_model_of_unknown_price_and_window_says_so_and_leads_to_its_settings(server, opened):
    async with ModelServer([Turn(text="One.")], models=["own"]) as models:
        server.settings(
            'model = "openai-compatible/own"\n'
            f'[providers.openai-compatible]\nbase_url = "{models.url("openai")}"\nlocal = false\n'
        )
        server.halo.env["OPENAI_COMPATIBLE_API_KEY"] = "x"
        await server.start()
        screen = await opened()
        await screen.say("Hello.")
        await screen.ended()
        await screen.page.locator(".meter").click()
        await screen.sees("unknown window")
        await screen.page.get_by_role("link", name="Set price").click()
        await screen.page.wait_for_function("() => document.activeElement.id === 'setting-prices'")
        assert "provider/model" in await screen.page.locator("#setting-prices").get_attribute("placeholder")
        assert await screen.barriers() == []
