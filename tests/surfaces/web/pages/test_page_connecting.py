"""Connecting models: servers at an address of yours, with a key or without, and no search engines among models."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.servers.model_server import ModelServer

from halocline.providers.scripted.script import Turn

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SERVER = "OpenAI-compatible server"
KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"


def written(server) -> str:
    file = server.halo.home / "settings.toml"
    return file.read_text() if file.exists() else ""


async def test_a_first_visit_connects_a_server_without_a_key_and_a_task_runs_on_a_model_it_lists(server, opened):
    await server.start()
    async with ModelServer([Turn(text="Hello from there.")], models=["first-model", "second-model"]) as models:
        screen = await opened(width=320)
        await screen.page.get_by_role("radio", name="Own server").check(force=True)
        await screen.page.get_by_label("Base URL").fill(models.url("openai").removesuffix("/v1"))
        assert await screen.barriers() == []
        await screen.page.get_by_role("button", name="Connect", exact=True).click()
        await screen.sees("2 models found")
        assert await screen.barriers() == []
        assert not await screen.scrolls_sideways()
        await screen.page.get_by_role("button", name="Use second-model").click()
        await screen.sees("New tasks use openai-compatible/second-model.", ".step:has(.done)")
        await screen.say("Go.")
        await screen.ended()
        assert "Hello from there." in await screen.transcript()
        assert models.requests[0].body["model"] == "second-model"
    assert f'base_url = "{models.url("openai")}"' in written(server)
    assert "local = true" in written(server)


async def test_a_model_that_is_typed_and_not_listed_is_used_and_gets_no_mark_of_success(server, opened):
    await server.start()
    async with ModelServer([], models=["first-model"]) as models:
        screen = await opened(width=390, theme="dark")
        await screen.page.get_by_role("radio", name="Own server").check(force=True)
        await screen.page.get_by_label("Base URL").fill(models.url("openai"))
        await screen.page.get_by_role("button", name="Connect", exact=True).click()
        await screen.page.get_by_placeholder("Other model").fill("mine")
        await screen.page.keyboard.press("Enter")
        await screen.sees("which the server does not list", ".step")
        assert await screen.page.locator(".step .done").count() == 0
        await screen.go("providers/openai-compatible")
        row = screen.page.locator(".model-row.here", has_text="mine")
        await row.get_by_text("not in the server’s list").wait_for()
        assert await row.locator(".good").count() == 0
        assert await screen.barriers() == []


async def test_an_unreachable_server_is_not_saved(server, opened):
    await server.start()
    screen = await opened(path="providers/openai-compatible")
    await screen.page.get_by_label("Base URL").fill("http://127.0.0.1:1/v1")
    await screen.page.get_by_label("API key (if it needs one)").fill(KEY)
    await screen.page.keyboard.press("Enter")
    await screen.sees("127.0.0.1:1 cannot be reached", ".stages")
    await screen.sees("Not connected.")
    assert "providers" not in written(server)
    assert not (server.halo.home / "credentials.json").exists()


async def test_an_address_without_a_scheme_is_completed_on_this_machine_and_explained_elsewhere(server, opened):
    await server.start()
    async with ModelServer([Turn(text="ok")], models=["only-one"]) as models:
        screen = await opened(path="providers/openai-compatible")
        address = screen.page.get_by_label("Base URL")
        for wrong in ("foo bar", "example.org:8000", "ftp://example.org"):
            await address.fill(wrong)
            await screen.page.keyboard.press("Enter")
            await screen.sees(f"'{wrong}' is no base URL: it must begin with http:// or https://.")
            await screen.sees("For example http://127.0.0.1:8000/v1")
        await address.fill(models.url("openai").removeprefix("http://"))
        await screen.page.keyboard.press("Enter")
        await screen.page.get_by_role("button", name="Use only-one").wait_for()
    assert f'base_url = "{models.url("openai")}"' in written(server)


async def test_a_server_with_a_key_lists_its_models_to_whoever_has_it(server, opened):
    await server.start()
    async with ModelServer([Turn(text="ok")], key=KEY, models=["only-one"]) as models:
        screen = await opened(path="providers/openai-compatible")
        address, key = screen.page.get_by_label("Base URL"), screen.page.get_by_label("API key (if it needs one)")
        await address.fill(models.url("openai"))
        await screen.page.keyboard.press("Enter")
        await screen.sees("rejected", ".stages")
        await key.fill(KEY)
        await screen.page.keyboard.press("Enter")
        await screen.sees(f"Key for {SERVER} saved.")
        await screen.page.get_by_role("button", name="Use only-one").wait_for()
        await screen.page.get_by_role("button", name="Test connection").click()
        await screen.sees("openai-compatible/only-one is available", ".stages")
        assert await screen.barriers() == []
    assert KEY not in written(server)
    assert "local" not in written(server)


async def test_search_engines_are_no_models(server, opened):
    await server.start()
    screen = await opened()
    await screen.page.get_by_role("radio", name="Anthropic").wait_for()
    first = await screen.page.locator(".tiles").inner_html()
    assert "Groq" in first
    await screen.go("providers")
    providers = await screen.page.get_by_role("list", name="Providers").inner_text()
    engines = await screen.page.get_by_role("list", name="Search engines").inner_text()
    for engine in ("Brave Search", "Exa", "Tavily"):
        assert engine not in first
        assert engine not in providers
        assert engine in engines
    await screen.page.get_by_role("link", name="Tavily").click()
    await screen.page.get_by_label("API key", exact=True).wait_for()
    assert await screen.page.get_by_role("heading", name="Choose a model").count() == 0
    assert await screen.barriers() == []


async def test_a_message_that_no_model_can_answer_points_to_the_first_step_and_covers_no_button(server, opened):
    await server.start()
    screen = await opened(width=320, height=700)
    await screen.page.get_by_role("radio", name="Anthropic").wait_for()
    for _ in range(2):
        await screen.say("Go.")
        await screen.sees("Connect a model first", ".toasts")
        await screen.page.wait_for_function("() => document.activeElement.id === 'first-provider'")
    assert await screen.page.locator(".toast").count() == 1
    assert await screen.composer.input_value() == "Go."
    places = (".toast", "#first-provider", ".send")
    toast, first, send = [await screen.page.locator(place).bounding_box() for place in places]
    assert toast["y"] + toast["height"] < min(first["y"], send["y"])
    assert await screen.barriers() == []


async def test_a_key_goes_to_the_provider_that_is_chosen_among_the_usual_ones_or_the_others(server, opened):
    await server.start()
    screen = await opened()
    tile, others = screen.page.get_by_role("radio", name="Anthropic"), screen.page.get_by_label("Other provider")
    goes_to = screen.page.locator(".connect")
    await tile.wait_for()
    await others.select_option(label="Groq")
    await goes_to.get_by_text("sent only to Groq").wait_for()
    assert not await tile.is_checked()
    await tile.check(force=True)
    await goes_to.get_by_text("sent only to Anthropic").wait_for()
    assert await others.input_value() == ""
    assert await screen.barriers() == []


async def test_a_key_that_could_not_be_tested_is_said_to_be_so_until_another_is_typed(server, opened):
    server.settings('[providers.anthropic]\nbase_url = "http://127.0.0.1:1"\n')
    await server.start()
    screen = await opened()
    await screen.page.get_by_label("API key").fill(f"sk-ant-{KEY}")
    await screen.page.get_by_role("button", name="Connect", exact=True).click()
    await screen.sees("The key is stored, but could not be tested.")
    assert await screen.page.locator(".step-number.done").count() == 0
    assert await screen.page.locator("dialog").count() == 0
    await screen.page.get_by_label("API key").fill(KEY)
    await screen.page.get_by_text("could not be tested").wait_for(state="detached")


async def test_a_suggestion_goes_into_the_composer_also_before_a_model_is_connected(server, opened):
    await server.start()
    screen = await opened()
    suggestion = screen.page.locator(".step .starters .chip").first
    text = (await suggestion.inner_text()).strip()
    await suggestion.click()
    is_there = "(text) => document.querySelector('.composer textarea').value === text"
    await screen.page.wait_for_function(is_there, arg=text)
    await screen.page.wait_for_function("() => document.activeElement.matches('.composer textarea')")
    await screen.composer.press("Enter")
    await screen.sees("Connect a model first", ".toasts")
    assert await screen.composer.input_value() == text


async def test_a_server_that_fails_or_was_connected_can_be_changed_without_typing_its_key_again(server, opened):
    await server.start()
    async with ModelServer([Turn(text="ok")], key=KEY, models=["only-one"]) as models:
        screen = await opened(width=390)
        await screen.page.get_by_role("radio", name="Own server").check(force=True)
        for label in ("Base URL", "API key (if it needs one)"):
            assert await screen.page.locator(".connect label:not(.hidden-text)", has_text=label).is_visible()
        base, key = screen.page.get_by_label("Base URL"), screen.page.get_by_label("API key (if it needs one)")
        connect = screen.page.get_by_role("button", name="Connect", exact=True)
        await base.fill("http://127.0.0.1:1/v1")
        await key.fill(KEY)
        await connect.click()
        await screen.sees("choose another address under Models")
        assert "--" not in await screen.page.locator(".connect").inner_text()
        await base.fill(models.url("openai"))
        await connect.click()
        await screen.sees("1 model found")
        assert await screen.barriers() == []
        await screen.page.get_by_role("button", name="Change server").click()
        assert await base.input_value() == models.url("openai")
        await connect.click()
        await screen.sees("1 model found")


async def test_the_key_of_the_server_in_use_counts_as_its_key(server, opened):
    await server.start()
    async with ModelServer([Turn(text="ok")], key=KEY, models=["only-one"]) as models:
        screen = await opened(path="providers/openai-compatible")
        await screen.page.get_by_label("Base URL").fill(models.url("openai"))
        await screen.page.get_by_label("API key (if it needs one)").fill(KEY)
        await screen.page.keyboard.press("Enter")
        await screen.sees("Key stored in a file")
        detail = await screen.page.locator(".way-steps").inner_text()
        assert "Not connected" not in detail
        assert "Also for" not in detail
        await screen.sees("key in a file", ".pane-list")
        await screen.page.get_by_role("button", name="Remove stored key").click()
        await screen.sees("Not connected.")
