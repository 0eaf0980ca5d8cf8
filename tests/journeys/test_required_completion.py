"""The setting `require_completion`: a turn ends only by attempt_completion."""

import pytest

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)
FINISH = Turn(calls=(Call("attempt_completion", {"result": "Finished."}),))
TALK = Turn(text="Now I will read the file.")


def requiring(journey, *turns: Turn) -> Client:
    return journey.client(turns, require_completion=True)


async def test_a_reply_without_a_call_is_sent_back_until_the_model_finishes(journey):
    told = Turn(calls=(Call("list_files", {}),), expect="call attempt_completion")
    await journey.run(client=requiring(journey, TALK, told, TALK, FINISH), options=YOLO)
    assert len(journey.of(ev.CompletionRequired)) == 2
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_replies_without_a_call_are_failures_and_three_in_a_row_end_the_turn(journey):
    await journey.run(client=requiring(journey, TALK, TALK, TALK), options=YOLO)
    end = journey.state.last_end
    assert (end.reason, end.limit) == (StopReason.MAX_TURN_REQUESTS, "failures")
    assert "a reply had no call" in end.text


async def test_a_plan_ends_a_turn_as_well(journey):
    plan = Turn(calls=(Call("plan_mode_respond", {"response": "First this."}),))
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, mode=Mode.PLAN)
    await journey.run(client=requiring(journey, plan), options=options)
    assert journey.of(ev.CompletionRequired) == []


async def test_a_reply_that_was_cut_off_is_no_announcement(journey):
    cut = Turn(text="Half", stop=StopReason.MAX_TOKENS)
    await journey.run(client=requiring(journey, cut), options=YOLO)
    assert journey.of(ev.CompletionRequired) == []


async def test_without_the_setting_a_reply_without_a_call_ends_the_turn(journey):
    await journey.run(TALK, options=YOLO)
    assert journey.of(ev.CompletionRequired) == []


@pytest.mark.parametrize(("command", "shown"), [("open a.html", "Done.\n\nTo see it: `open a.html`"), ("", "Done.")])
async def test_a_command_that_shows_the_work_is_shown_and_not_run(journey, command, shown):
    call = Call("attempt_completion", {"result": "Done.", "command": command}, id="c1")
    await journey.run(Turn(calls=(call,)), options=YOLO)
    assert journey.results == [shown]
    assert journey.of(ev.JobStarted) == []
