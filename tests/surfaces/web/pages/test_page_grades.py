"""An approval on the page by its grade: its words and colour, and that Enter approves nothing that is grave."""

import asyncio
import os

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell
from tests.surfaces.graded_calls import COMMANDS, NAMED, WORDS, fill_folder
from tests.surfaces.web.pages.test_page_decision import decisions, scroll_up

from halocline.protocol.permission_rules import Grade

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

TONES = {Grade.ORDINARY: "soft", Grade.OUTSIDE: "grade-warn", Grade.SECRET: "grade-grave", Grade.FINAL: "grade-grave"}
PICTURES = os.environ.get("PICTURES")


async def ask(server, opened, asks, text="Now.", **more):
    fill_folder(server.halo.folder)
    server.model({"text": text, "call": [asks]}, {"text": "Done it."})
    await server.start()
    screen = await opened(**more)
    await screen.say("Do it.")
    await screen.page.locator("[data-decides] .approves:enabled").wait_for()
    return screen


async def press_enter(screen):
    await asyncio.sleep(1)
    await screen.page.keyboard.press("Enter")
    await asyncio.sleep(1)


@pytest.mark.parametrize("grade", Grade)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_card_and_dock_begin_with_the_reason_in_the_words_and_colour_of_its_grade(server, opened, grade, theme):
    screen = await ask(server, opened, shell(COMMANDS[grade]), "Much to read.\n\n" * 80, theme=theme)
    for place in (".card.asks", ".dock"):
        for width in (390, 1100):
            await screen.page.set_viewport_size({"width": width, "height": 800})
            box = screen.page.locator(f"{place}[data-decides]")
            await box.wait_for()
            first = box.locator(".explanation > *").first
            said = await first.text_content()
            assert said.startswith(f"{WORDS[grade]}. " if WORDS[grade] else "Ask mode"), said
            assert NAMED[grade] in said
            assert TONES[grade] in await first.get_attribute("class")
            assert (await box.locator(".approves.primary").count() == 0) is grade.is_grave
            label = await screen.page.locator(f"{place} .decision").get_attribute("aria-label")
            assert WORDS[grade] in label
            assert await screen.barriers() == []
            assert not await screen.scrolls_sideways()
            if PICTURES:
                await screen.page.screenshot(path=f"{PICTURES}/{grade}-{place[1:5]}-{width}-{theme}.png")
        await scroll_up(screen)


@pytest.mark.parametrize("grade", Grade)
@pytest.mark.parametrize("focused", ["composer", ".log", ".card.asks", ".explanation"])
async def test_enter_approves_only_what_is_not_grave(server, opened, grade, focused):
    screen = await ask(server, opened, shell(COMMANDS[grade]))
    place = screen.composer if focused == "composer" else screen.page.locator(focused).first
    await place.focus()
    await press_enter(screen)
    if not grade.is_grave:
        await screen.sees("Done it.")
        return
    assert decisions(server) == []
    assert await screen.composer.input_value() == ""
    await screen.page.locator(".approves:enabled").click()
    await screen.sees("Done it.")
    assert (server.halo.folder / "made").exists()


@pytest.mark.parametrize("grade", [Grade.OUTSIDE, Grade.SECRET])
async def test_enter_in_the_form_of_always_allows_only_what_is_not_grave(server, opened, grade):
    screen = await ask(server, opened, shell(COMMANDS[grade]))
    await screen.page.locator("[data-decides]").get_by_role("button", name="Always allow").click()
    await screen.page.locator("[data-decides] [name=scope]").first.focus()
    await press_enter(screen)
    if not grade.is_grave:
        await screen.sees("Done it.")
        return
    assert decisions(server) == []
    await screen.page.keyboard.press("Escape")
    await press_enter(screen)
    assert decisions(server) == []
    await screen.page.keyboard.press("Escape")
    await screen.page.locator("[data-decides]").get_by_role("button", name="Always allow").click()
    await asyncio.sleep(1)
    await screen.page.locator("[data-decides]").get_by_role("button", name="Allow", exact=True).click()
    await screen.sees("Done it.")


async def test_the_head_of_an_edit_says_its_grade_above_a_long_diff(server, opened):
    asks = call("write_to_file", path=".env.local", content="KEY=2\n" * 60)
    screen = await ask(server, opened, asks, theme="dark")
    head = screen.page.locator(".card.asks .call-line .state")
    assert (await head.inner_text(), "grade-grave" in await head.get_attribute("class")) == ("A secret may leave", True)
    if PICTURES:
        await screen.page.set_viewport_size({"width": 390, "height": 900})
        await screen.page.locator(".card.asks").screenshot(path=f"{PICTURES}/edit-390-dark.png")
