"""What people do all day, by keyboard alone."""

import pytest
from tests.hosts.chromium import needs_chromium

from halocline.protocol import events as ev
from halocline.task.log import read_log

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

"""Milliseconds after which a decision takes keys."""


def run(command: str) -> dict:
    return {"call": [{"tool": "execute_command", "arguments": {"command": command}}]}


def log(server) -> list[ev.DurableEvent]:
    return list(read_log(next(server.halo.home.glob("tasks/*/events.jsonl"))))


async def asked(screen) -> None:
    await screen.page.locator("[data-decides] button.primary:enabled, [data-decides] .option:enabled").first.wait_for()


async def test_a_command_is_approved_with_enter_from_the_empty_composer(server, opened):
    server.model(run("echo hello > made.txt"), {"text": "Made it."})
    await server.start()
    screen = await opened()
    await screen.say("Make it.")
    await asked(screen)
    await screen.page.keyboard.press("Enter")
    await screen.sees("Made it.")
    await screen.ended()
    assert (server.halo.folder / "made.txt").read_text() == "hello\n"


async def test_enter_does_not_approve_while_something_is_being_written(server, opened):
    server.model(run("touch made.txt"), {"text": "Made it."})
    await server.start()
    screen = await opened()
    await screen.say("Make it.")
    await asked(screen)
    await screen.composer.fill("not so")
    await screen.composer.press("Enter")
    await screen.ended()
    [decided] = [event for event in log(server) if isinstance(event, ev.ApprovalResolved)]
    assert (decided.decision, decided.by) == ("reject_once", "message")
    assert not (server.halo.folder / "made.txt").exists()


async def test_a_command_is_rejected_with_a_reason_that_the_model_hears(server, opened):
    server.model(run("rm -rf everything"), {"text": "Then not.", "expect": ["far too much"]})
    await server.start()
    screen = await opened()
    await screen.say("Tidy up.")
    await asked(screen)
    await screen.page.locator("[data-decides] .primary").focus()
    await screen.page.keyboard.press("r")
    await screen.page.locator("[data-decides] input:focus").wait_for()
    await screen.page.keyboard.type("that is far too much")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Then not.")
    await screen.ended()
    [decided] = [event for event in log(server) if isinstance(event, ev.ApprovalResolved)]
    assert (decided.decision, decided.note, decided.client) == ("reject_once", "that is far too much", "web 1")


async def test_a_command_is_changed_before_it_runs(server, opened):
    server.model(run("echo wrong > made.txt"), {"text": "Made it."})
    await server.start()
    screen = await opened()
    await screen.say("Make it.")
    await asked(screen)
    await screen.page.locator("[data-decides] .primary").focus()
    await screen.page.keyboard.press("e")
    await screen.page.locator("[data-decides] textarea:focus").wait_for()
    await screen.page.keyboard.press("Control+A")
    await screen.page.keyboard.type("echo right > made.txt")
    await screen.page.keyboard.press("Tab")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Made it.")
    assert (server.halo.folder / "made.txt").read_text() == "right\n"


async def test_a_question_is_answered_by_the_number_of_an_option(server, opened):
    question = {
        "tool": "ask_followup_question",
        "arguments": {"question": "Which one?", "options": ["SQLite", "Files"]},
    }
    server.model({"call": [question]}, {"text": "Files it is.", "expect": ["Files"]})
    await server.start()
    screen = await opened()
    await screen.say("Choose.")
    await asked(screen)
    await screen.page.keyboard.press("2")
    await screen.sees("Files it is.")


async def test_plan_becomes_act_and_what_is_said_meanwhile_waits_in_the_queue(server, opened):
    server.model({"text": "Here is the plan. " * 60, "pace": 0.2}, {"text": "Second turn."}, {"text": "Third."})
    await server.start()
    screen = await opened()
    await screen.page.get_by_role("button", name="Mode: Act").click()
    await screen.say("Think first.")
    await screen.page.locator(".prompt").wait_for()
    await screen.say("And then this.")
    await screen.page.locator(".queued", has_text="And then this.").wait_for()
    await screen.sees("Second turn.")
    await screen.ended()
    await screen.page.keyboard.press("Control+Shift+M")
    await screen.page.locator(".mode", has_text="Act").wait_for()
    modes = [event.mode for event in log(server) if isinstance(event, ev.TaskStarted | ev.ModeChanged)]
    assert modes == ["plan", "act"]


async def test_a_turn_is_stopped_by_pressing_escape_twice(server, opened):
    server.model(run("sleep 60; touch made.txt"), {"text": "Never said."})
    await server.start()
    screen = await opened()
    await screen.say("Sleep.")
    await asked(screen)
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".state.run").wait_for()
    await screen.page.keyboard.press("Escape")
    await screen.page.keyboard.press("Escape")
    await screen.sees("Stopped")
    await screen.ended()
    assert [event.reason for event in log(server) if isinstance(event, ev.TurnEnded)] == ["cancelled"]
