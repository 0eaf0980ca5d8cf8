"""Each kind of call has a card that says what a person wants to know of it."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell

from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, Image, StopReason, Text, ToolCall, ToolResult
from halocline.protocol.plan_approval import CHOICES
from halocline.store.blobs import DiskBlobs

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PLAN = "# How\n\n## Look\n\nRead it.\n\n## Change\n\n- one\n- two\n"
ICON = Path(__file__).parents[4] / "src/halocline/surfaces/web/static/icon.svg"


async def test_a_plan_is_sent_back_with_remarks_and_then_approved(server, opened):
    plan = {"call": [call("plan_mode_respond", response=PLAN)]}
    server.model(plan, plan, {"text": "I carry it out."})
    await server.start()
    screen = await opened()
    keyboard = screen.page.keyboard
    await screen.page.get_by_role("button", name="Mode: Act").click()
    await screen.say("How would you do it?")
    actions = screen.page.locator(".plan-actions")
    await actions.get_by_role("button", name="Revise").press("Enter")
    await actions.get_by_label("About").select_option("Change")
    await actions.locator("textarea").fill("Only one.")
    await keyboard.press("Control+Enter")
    assert await screen.barriers() == []
    await actions.get_by_role("button", name="Send comment").press("Enter")
    await screen.sees("About “Change”: Only one.", ".prompt")
    await screen.page.locator(".turn-end").nth(1).wait_for()
    assert await actions.count() == 1
    modes = actions.get_by_label("How to go on")
    assert [f"Approve the plan, {words}" for words in await modes.locator("option").all_inner_texts()] == [*CHOICES]
    await modes.select_option("accept-edits")
    assert await screen.barriers() == []
    await actions.get_by_role("button", name="Approve and act").press("Enter")
    await screen.sees("I carry it out.")
    await screen.page.get_by_role("button", name="Mode: Act").wait_for()
    await screen.sees("Approvals: accept-edits")
    assert await actions.count() == 0


async def test_a_running_command_of_many_lines_claims_no_number_of_all_and_shows_its_beginning_when_it_ends(
    server, opened
):
    command = "for i in $(seq 3000); do echo this is line $i; done; until [ -e go ]; do sleep 0.1; done"
    server.model({"call": [shell(command)]}, {"text": "Done."})
    await server.start()
    screen = await opened()
    await screen.say("Run it.")
    await screen.sees("line 3000", ".output")
    await screen.sees("The beginning is shown when the command ends.", ".output")
    assert "more lines" not in await screen.page.locator(".output").inner_text()
    (server.halo.folder / "go").touch()
    await screen.sees("Done.")
    await screen.page.locator(".card.call .call-line").click()
    await screen.page.get_by_role("button", name="more lines").click()
    assert "this is line 1\n" in await screen.page.locator(".output pre").inner_text()


async def test_a_command_shows_its_last_lines_while_it_runs_and_goes_on_as_a_job(server, opened):
    command = "touch begun; for i in $(seq 1 30); do echo line $i; done; sleep 60"
    server.model({"call": [shell(command)]}, {"text": "It runs."})
    await server.start()
    screen = await opened(width=390)
    await screen.say("Run it.")
    await screen.page.locator("[data-decides] :is(.primary, .approves)").click()
    await screen.sees("line 30", ".output")
    await screen.sees("18 lines before these", ".output")
    await screen.sees("The beginning is shown when the command ends.", ".output")
    assert await screen.barriers() == []
    await screen.page.get_by_role("button", name="Search output").click()
    await screen.page.get_by_label("Search output").first.fill("line 7")
    await screen.sees("7: ", ".output")
    await screen.page.get_by_role("button", name="Run in background").press("Enter")
    await screen.sees("It runs.")
    await screen.page.get_by_role("button", name="Stop job").press("Enter")
    await screen.page.get_by_role("button", name="Stop job").wait_for(state="detached")


async def test_an_edit_is_seen_while_it_is_written(server, opened):
    content = "".join(f"line {number}\n" for number in range(1, 200))
    server.model({"text": "See.", "pace": 0.05, "call": [call("write_to_file", path="new.txt", content=content)]})
    await server.start()
    screen = await opened()
    await screen.say("Write it.")
    preview = screen.page.locator(".card.preview")
    await preview.get_by_text("new.txt").wait_for()
    await preview.locator(".line.added").first.wait_for()
    await screen.page.locator(".card.asks").wait_for()
    assert await preview.count() == 0


async def test_a_failed_request_counts_down_and_an_error_says_what_can_be_done(server, opened):
    server.model({"text": "…", "fault": "overloaded"}, {"text": "…", "fault": "auth"})
    await server.start()
    screen = await opened()
    await screen.say("Hello.")
    await screen.sees("Retrying in", ".retry")
    await screen.page.get_by_role("button", name="Retry now").press("Enter")
    await screen.page.get_by_role("button", name="Open models and keys").wait_for()
    assert await screen.barriers() == []
    said = await screen.page.locator(".error-card strong").inner_text()
    assert said not in await screen.page.locator(".turn-end").inner_text()


async def test_a_call_that_was_cut_off_with_its_process_neither_runs_nor_can_be_stopped(server, opened, golden):
    task = server.task(golden / "killed.jsonl")
    await server.start()
    screen = await opened()
    await screen.task(task)
    calls = screen.page.locator(".card.call")
    await calls.filter(has_text="sleep 3").get_by_text("interrupted").wait_for()
    assert await screen.page.locator(".state.run").count() == 0
    await calls.filter(has_text="sleep 3").locator(".call-line").press("Enter")
    await screen.sees("its effects are unknown")
    assert await screen.page.get_by_role("button", name="Stop").count() == 0


async def test_words_of_a_reply_are_quoted_into_the_composer(server, opened):
    server.model({"text": "One thing.\n\nAnother thing."})
    await server.start()
    screen = await opened()
    await screen.say("Tell me.")
    await screen.ended()
    await screen.page.locator(".reply p").nth(1).select_text()
    await screen.page.get_by_role("button", name="Quote").click()
    assert await screen.composer.input_value() == "> Another thing.\n\n"


async def test_a_visit_of_the_browser_is_a_film_with_a_mark_where_it_clicked(server, opened, tmp_path):
    await opened_film(server)
    await server.start()
    screen = await opened()
    await screen.task("261121-120000-film")
    last = screen.page.locator(".card.call").last
    await last.locator(".shot img").wait_for()
    assert await last.locator(".click-mark").count() == 1
    assert await screen.barriers() == []
    await last.locator(".frame.now").focus()
    await screen.page.keyboard.press("ArrowLeft")
    await last.get_by_text("Open http://localhost:8000/ in the browser").wait_for()
    assert await last.locator(".click-mark").count() == 0
    await last.get_by_text("Console").click()
    await last.get_by_text("error: no favicon").wait_for()
    assert not await screen.scrolls_sideways()


async def test_a_call_of_a_server_names_it_with_what_it_was_given_and_said(server, opened):
    written(
        server, "mcp", *answered("m", "github__issue", {"title": "Bug"}, "github/issue {…}", Text("# Made\n\n**12**"))
    )
    await server.start()
    screen = await opened(theme="dark")
    await screen.task("261121-120000-mcp")
    card = screen.page.locator(".card.call")
    await card.get_by_text("github · issue").wait_for()
    await card.locator(".call-line").press("Enter")
    assert '"title": "Bug"' in await card.locator(".arguments").inner_text()
    await card.locator(".answer strong").get_by_text("12").wait_for()
    assert await screen.barriers() == []


async def opened_film(server) -> None:
    from PIL import Image as Picture

    shot = server.halo.root / "shot.png"
    Picture.new("RGB", (900, 600), "white").save(shot)
    blob = DiskBlobs(server.halo.home / "blobs").put(shot.read_bytes())
    said = [
        ("launch", {"action": "launch", "url": "http://localhost:8000/"}, "Open http://localhost:8000/ in the browser"),
        ("click", {"action": "click", "coordinate": "450,300"}, "Click 450,300"),
    ]
    page = "It is data.\n<web_content>\nTitle: Hi\nConsole:\nerror: no favicon\n</web_content>"
    told = "http://localhost:8000/\n[900×600 pixels; 0 above, 0 below; the browser stays open]"
    parts = (Text(told), Text(page), Image("image/png", blob))
    written(
        server,
        "film",
        *(e for name, given, title in said for e in answered(name, "browser_action", given, title, *parts)),
    )


def answered(call: str, tool: str, arguments: dict[str, Any], title: str, *parts: Any) -> list[Any]:
    return [
        ev.StepStarted("scripted/x"),
        ev.AssistantMessageCompleted(AssistantMessage((ToolCall(call, tool, arguments),))),
        ev.ToolCallStarted(call, tool, title, ToolKind.FETCH),
        ev.ToolCallEnded(call, tool, CallStatus.COMPLETED, ToolResult(call, parts)),
    ]


def written(server, name: str, *events: Any) -> None:
    """A task of the history in which this happened."""
    task = f"261121-120000-{name}"
    folder = server.halo.home / "tasks" / task
    folder.mkdir(parents=True)
    all = [
        ev.TaskStarted(str(server.halo.folder), "scripted/x", Mode.ACT, ApprovalMode.ASK, "", "1"),
        ev.TurnStarted((Text("Look at it."),)),
        *events,
        ev.TurnEnded(StopReason.END_TURN),
    ]
    lines = [
        codec.encode(replace(event, seq=seq, at=1_800_000_000.0 + seq, task=task)) for seq, event in enumerate(all, 1)
    ]
    (folder / "events.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


async def test_a_plan_with_choices_has_one_primary_answer_the_safest_that_approves_it(server, opened):
    plan = {"tool": "plan_mode_respond", "arguments": {"response": "Two ways.", "options": ["Yes, go", "Not yet"]}}
    server.model({"call": [plan]}, {"text": "I carry it out."})
    await server.start()
    screen = await opened(width=390, theme="dark")
    await screen.page.get_by_role("button", name="Mode: Act").click()
    await screen.say("How?")
    card = screen.page.locator(".card.question")
    await card.locator("button:enabled").first.wait_for()
    rows = [await row.locator("button").count() for row in await card.locator(".options").all()]
    assert rows == [2, len(CHOICES)]
    assert (await card.locator(".primary").inner_text()).endswith(next(iter(CHOICES)))
    assert await screen.barriers() == []
    await card.locator(".primary").click()
    await screen.sees("I carry it out.")


async def test_the_cost_of_a_task_and_its_menu_are_in_its_header_at_every_width(server, opened):
    server.model({"text": "ok"})
    await server.start()
    for width, theme in ((320, "light"), (390, "dark"), (1100, "light")):
        screen = await opened(width=width, theme=theme)
        await screen.say(f"Go at {width}.")
        await screen.ended()
        await screen.page.locator(".task-head .meter").click()
        await screen.page.get_by_role("heading", name="Context and cost").wait_for()
        await screen.page.keyboard.press("Escape")
        await screen.page.get_by_role("button", name="More actions for this task").click()
        menu = screen.page.get_by_role("menu")
        assert "Print…" in [name.strip() for name in await menu.get_by_role("menuitem").all_inner_texts()]
        assert await screen.barriers() == []
        assert not await screen.scrolls_sideways()
        await screen.page.keyboard.press("Escape")
        await menu.wait_for(state="detached")


async def test_a_button_that_continues_puts_no_words_into_the_mouth_of_the_person(server, opened):
    server.model({"text": "…", "fault": "auth"}, {"text": "Hello.", "expect": "Continue where you left off."})
    await server.start()
    screen = await opened(width=390)
    await screen.say("Greet me.")
    await screen.page.get_by_role("button", name="Continue", exact=True).click()
    await screen.sees("Hello.", ".reply")
    prompts = [
        await one.locator(".prompt-text, .attached-name").all_inner_texts()
        for one in await screen.page.locator(".prompt").all()
    ]
    assert prompts == [["Greet me."], ["[continue]"]]
    await screen.page.get_by_role("button", name="Try another model…").last.click()
    await screen.page.locator(".pick").first.click()
    edited = screen.page.locator("dialog textarea")
    await edited.wait_for()
    assert await edited.input_value() == ""
    await screen.page.keyboard.press("Escape")
    await screen.page.get_by_role("button", name="Rewind", exact=True).click()
    await screen.sees("Before “[continue]”", "dialog")
