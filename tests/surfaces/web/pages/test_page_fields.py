"""Settings, keys and models as a person changes them."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.servers.model_server import ModelServer

from halocline.providers.scripted.script import Turn

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"


def written(server) -> str:
    file = server.halo.home / "settings.toml"
    return file.read_text() if file.exists() else ""


async def test_a_setting_is_searched_set_refused_in_place_and_reset(server, opened):
    server.settings("# mine\n")
    await server.start()
    screen = await opened(path="settings")
    await screen.page.get_by_label("Search settings").fill("failed tool")
    field = screen.page.get_by_label("Max failures")
    await field.fill("0")
    await field.press("Enter")
    await screen.sees("Nothing was changed.", ".setting")
    kept = await field.input_value()
    await field.fill("9")
    await field.press("Enter")
    await screen.sees("Saved.", ".setting")
    after = written(server)
    await screen.page.get_by_role("button", name="Reset Max failures").click()
    await screen.page.locator(".setting").get_by_text("default", exact=True).wait_for()
    assert (kept, after, written(server)) == ("0", "# mine\nmax_failures = 9\n", "# mine\n")


async def test_switches_lists_and_choices_are_written_as_what_they_are(server, opened):
    await server.start()
    screen = await opened(path="settings/Tools")
    await screen.page.get_by_role("checkbox", name="new_task").check()
    await screen.sees("Saved.", ".setting")
    await screen.page.get_by_label("Disabled slash commands").fill("skill/*\ncommand/deploy")
    await screen.page.get_by_label("Disabled slash commands").blur()
    await screen.go("settings/Approvals")
    await screen.page.get_by_label("Safe commands").select_option("false")
    await screen.page.get_by_label("Approval mode").select_option("auto")
    await screen.go("settings/Checkpoints")
    await screen.page.get_by_role("switch", name="Checkpoints", exact=True).press(" ")
    await screen.page.locator("[role=switch]:not(:checked)").wait_for()
    said = written(server)
    for line in (
        'extra_tools = ["new_task"]',
        'approval_mode = "auto"',
        "checkpoints = false",
        "safe_commands = false",
    ):
        assert line in said
    assert "command/deploy" in said


async def test_what_a_variable_decides_says_so_and_cannot_be_changed(server, opened):
    server.halo.env["HALOCLINE_MAX_STEPS"] = "7"
    await server.start()
    screen = await opened(path="settings/Limits")
    await screen.sees("Set by the environment variable HALOCLINE_MAX_STEPS.")
    assert await screen.page.get_by_label("Max steps", exact=True).is_disabled()
    assert await screen.page.get_by_label("Max steps", exact=True).input_value() == "7"


async def test_a_key_is_tried_kept_and_never_shown_the_way_is_tested_and_a_model_picked(server, opened):
    await server.start()
    async with ModelServer([Turn(text="ok")], key=KEY, models=["gpt-one", "gpt-two"]) as models:
        screen = await opened(path="providers/openai")
        frames: list[str] = []
        screen.page.on("websocket", lambda socket: socket.on("framereceived", lambda said: frames.append(str(said))))
        await screen.page.reload()
        await screen.page.get_by_text("Custom server").click()
        await screen.page.get_by_label("Base URL").fill(models.url("openai"))
        await screen.page.get_by_label("API key", exact=True).fill(f"{KEY}wrong")
        await screen.page.keyboard.press("Enter")
        await screen.sees("rejected", ".stages")
        emptied = await screen.page.get_by_label("API key", exact=True).input_value()
        await screen.page.get_by_label("API key", exact=True).fill(KEY)
        await screen.page.keyboard.press("Enter")
        await screen.sees("Key for OpenAI saved.")
        await screen.page.get_by_label("Model to test").fill("openai/gpt-one")
        await screen.page.locator("button:enabled", has_text="Test connection").wait_for()  # it knows of the key
        await screen.page.keyboard.press("Enter")
        await screen.sees("openai/gpt-one is available", ".stages")
        await screen.page.get_by_label("Another model of OpenAI").fill("gpt-two")
        await screen.page.keyboard.press("Enter")
        await screen.sees("New tasks use openai/gpt-two.")
        text = await screen.page.content()
    assert 'model = "openai/gpt-two"' in written(server)
    assert (emptied, KEY in text, any(KEY in str(frame) for frame in frames)) == ("", False, False)
