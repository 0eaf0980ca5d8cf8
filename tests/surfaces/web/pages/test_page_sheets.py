"""What lies on top of a task keeps nobody out: sheets, menus, errors, questions; at each width and in each theme."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call
from tests.surfaces.web.pages.screen import Screen

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LOOKS = ((320, "light"), (320, "dark"), (390, "light"), (390, "dark"), (1100, "light"), (1100, "dark"))
OLD = "".join(f"line {number}\n" for number in range(1, 21))
NEW = OLD.replace("line 5\n", "five\n")
PLAN = "# How\n\n## Look\n\nRead it.\n\n## Change\n\n- one\n- two\n"


async def found(screen: Screen, name: str) -> list[str]:
    """What keeps people out of a state of the page, at each width and in each theme."""
    problems = []
    for width, theme in LOOKS:
        await screen.page.set_viewport_size({"width": width, "height": 800})
        await screen.page.emulate_media(color_scheme=theme)
        here = f"{name}, {width} {theme}"
        problems += [f"{here}: {barrier}" for barrier in await screen.barriers()]
        problems += [f"{here}: scrolls sideways"] * await screen.scrolls_sideways()
    return problems


async def opened_sheet(screen: Screen, name: str) -> None:
    """The sheet of a name, for the task that is looked at."""
    await screen.page.evaluate(
        "async (name) => {"
        " const { choice, current, openSheet } = await import(early.base + 'static/js/state/store.js');"
        " openSheet(name, { task: current.value, choice }) }",
        name,
    )
    await screen.page.locator("dialog[open]").wait_for()


async def test_no_sheet_over_a_task_has_a_barrier(server, opened):
    (server.halo.folder / "a.txt").write_text(OLD)
    turns = (
        {"call": [call("read_file", path="a.txt")]},
        {"call": [call("write_to_file", path="a.txt", content=NEW)]},
        {"call": [call("attempt_completion", result="**Done.**")]},
        {"text": "…", "fault": "auth"},
    )
    server.settings(f'model = "{server.halo.script(*turns)}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened()
    await screen.say("Change it.")
    await screen.ended()
    sheets = {
        "palette": ".pick",
        "models": "dialog summary",
        "policy": ".policy-grid",
        "context": ".legend",
        "restore": ".moment",
        "shortcuts": ".key-row",
        "folders": ".folder-list",
        "recall": ".pick",
        "status": ".facts",
    }
    problems = []
    for name, sign in sheets.items():
        await opened_sheet(screen, name)
        await screen.page.locator(sign).first.wait_for()
        if name == "models":
            await screen.page.locator("dialog summary").click()
            await screen.page.get_by_label("Plan: effort").wait_for()
        problems += await found(screen, name)
        await screen.page.keyboard.press("Escape")
        await screen.page.locator("dialog").wait_for(state="detached")
    texts = {"/agents": "No agents here.", "/hooks": "No hooks.", "/worktrees": "is not a git repository"}
    for command, answer in texts.items():
        await screen.say(command)
        await screen.page.locator("dialog").get_by_text(answer).wait_for()
        problems += await found(screen, command)
        await screen.page.keyboard.press("Escape")
        await screen.page.locator("dialog").wait_for(state="detached")
    await screen.say("/diff")
    await screen.page.locator(".review [data-hunk]").wait_for()
    problems += await found(screen, "review")
    await screen.page.set_viewport_size({"width": 1100, "height": 800})
    await screen.page.keyboard.press("Control+.")
    await screen.say("Go on.")
    await screen.page.locator(".error-card").wait_for()
    problems += await found(screen, "error")
    assert problems == []


async def test_neither_a_plan_nor_a_question_nor_what_waits_nor_a_menu_has_a_barrier(server, opened):
    asks = call("ask_followup_question", question="Which one?", options=["SQLite", "Files"])
    server.model(
        {"call": [call("plan_mode_respond", response=PLAN)]}, {"call": [asks]}, {"text": "So be it.", "delay": 30}
    )
    await server.start()
    screen = await opened()
    await screen.page.get_by_role("button", name="Mode: Act").click()
    await screen.say("How?")
    await screen.page.locator(".plan-actions").wait_for()
    problems = await found(screen, "plan")
    await screen.say("Go on.")
    await screen.page.locator("[data-decides]").get_by_text("Which one?").wait_for()
    problems += await found(screen, "question")
    await screen.page.get_by_placeholder("Your answer").wait_for()
    await screen.say("Files")
    await screen.page.locator("[data-decides]").wait_for(state="detached")
    await screen.say("And then this.")
    await screen.page.locator(".queued").wait_for()
    problems += await found(screen, "queue")
    await screen.composer.press_sequentially("/")
    await screen.page.locator(".offer").first.wait_for()
    problems += await found(screen, "words")
    assert problems == []


async def test_no_notification_has_a_barrier(server, opened):
    server.model({"text": "Made."})
    await server.start()
    screen = await opened()
    await screen.say("Make it.")
    await screen.ended()
    await screen.page.evaluate(
        "async () => { const { complain, toast } = await import(early.base + 'static/js/state/store.js');"
        " toast('The task is in the trash.', { undo: () => {}, seconds: 600 });"
        " complain({ text: 'The server said no.', hint: 'Ask it again. ' + 'A long hint. '.repeat(12) }) }"
    )
    await screen.page.locator(".toast.error").wait_for()
    assert await found(screen, "notifications") == []


async def test_a_task_that_asks_can_be_seen_in_forced_colours(server, opened):
    (server.halo.folder / "a.txt").write_text(OLD)
    server.model(
        {"call": [call("read_file", path="a.txt")]}, {"call": [call("write_to_file", path="a.txt", content=NEW)]}
    )
    await server.start()
    screen = await opened()
    await screen.page.emulate_media(forced_colors="active")
    await screen.say("Change it.")
    await screen.page.locator(".card.asks [data-hunk]").wait_for()
    lines = "(one) => [one.outlineStyle, one.outlineWidth, one.borderTopStyle, one.borderTopWidth].join(' ')"
    told = {
        name: await screen.page.locator(name).first.evaluate(f"(one) => ({lines})(getComputedStyle(one))")
        for name in (".task-link.here", ".card.asks", ".meter", ".button.primary")
    }
    assert {name: "solid" in style for name, style in told.items()} == dict.fromkeys(told, True)
    assert not await screen.scrolls_sideways()
    mode = screen.page.locator(".mode")
    weights = []
    for name in ("act", "plan"):  # their colours are the same here
        await screen.page.locator(f".mode.{name}").wait_for()
        weights.append(await mode.evaluate("(one) => getComputedStyle(one).fontWeight"))
        await mode.click()
    assert weights[0] != weights[1]


async def test_a_side_question_is_answered_on_a_sheet_and_leaves_no_row(server, opened):
    server.model({"text": "Made."}, {"text": "By **hand**."})
    await server.start()
    screen = await opened()
    await screen.say("Make it.")
    await screen.ended()
    rows = await screen.page.locator(".row").count()
    await screen.say("/btw how?")
    await screen.page.locator("dialog strong", has_text="hand").wait_for()
    assert await found(screen, "side question") == []
    await screen.page.keyboard.press("Escape")
    await screen.page.locator("dialog").wait_for(state="detached")
    assert await screen.page.locator(".row").count() == rows
