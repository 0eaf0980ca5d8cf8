"""A report that the task is done is checked against the newest edit and the newest command of the turn."""

import pytest

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)
DONE = Turn(calls=(Call("attempt_completion", {"result": "All done."}),))
EDIT = "the last edit"
BLOCK = "<<<<<<< SEARCH\n{}\n=======\nnew\n>>>>>>> REPLACE"


def edit(text: str, path: str = "a.txt") -> Turn:
    return Turn(calls=(Call("replace_in_file", {"path": path, "diff": BLOCK.format(text)}),))


def run(command: str) -> Turn:
    return Turn(calls=(Call("execute_command", {"command": command}),))


FAILURES = {
    "an edit that found nothing": (edit("absent"), EDIT),
    "an edit of a missing file": (edit("old", "b.txt"), EDIT),
    "an edit without its arguments": (Turn(calls=(Call("write_to_file", {}),)), EDIT),
    "a command": (run("exit 3"), "the last command (exit 3)"),
    "a test": (run("python3 -m unittest absent"), "the last command (exit 1)"),
    "a command that was killed": (run("kill -9 $$"), "the last command (SIGKILL)"),
    "a command that took too long": (
        Turn(calls=(Call("execute_command", {"command": "sleep 9", "timeout": 0.2}),)),
        "the last command (timed out)",
    ),
    "a command without its arguments": (Turn(calls=(Call("execute_command", {}),)), "the last command (not run)"),
}


@pytest.mark.parametrize(("fails", "what"), FAILURES.values(), ids=FAILURES)
async def test_a_report_over_a_failure_is_sent_back_once_and_then_ends_with_it(journey, fails, what):
    journey.write("a.txt", "old\n")
    await journey.run(fails, DONE, Turn(calls=DONE.calls, expect=what), options=YOLO)
    assert len(journey.of(ev.CompletionQuestioned)) == 1
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.state.last_end.failed == (what,)


MENDED = {
    "the edit": (edit("absent"), edit("old")),
    "the command": (run("exit 3"), run("true")),
    "both": (edit("absent"), run("false"), edit("old"), run("true")),
    "an answer that is no failure": (run("grep absent a.txt"),),
    "reads that failed": (Turn(calls=(Call("read_file", {"path": "b.txt"}),)),),
}


@pytest.mark.parametrize("turns", MENDED.values(), ids=MENDED)
async def test_a_report_after_what_went_well_ends_at_once(journey, turns):
    journey.write("a.txt", "old\n")
    await journey.run(*turns, DONE, options=YOLO)
    assert journey.of(ev.CompletionQuestioned) == []
    assert journey.state.last_end.failed == ()


async def test_what_is_mended_when_it_was_named_ends_well(journey):
    await journey.run(run("exit 3"), DONE, run("true"), DONE, options=YOLO)
    assert len(journey.of(ev.CompletionQuestioned)) == 1
    assert journey.state.last_end.failed == ()


async def test_an_answer_in_words_is_not_sent_back_but_its_end_says_what_failed(journey):
    await journey.run(run("exit 3"), Turn(text="The command fails."), options=YOLO)
    assert journey.of(ev.CompletionQuestioned) == []
    assert journey.state.last_end.failed == ("the last command (exit 3)",)


async def test_the_next_turn_does_not_answer_for_an_earlier_failure(journey):
    client = journey.client((run("exit 3"), Turn(text="It fails."), DONE))
    await journey.open(client, YOLO)
    await journey.prompt(client)
    await journey.prompt(client)
    assert journey.of(ev.CompletionQuestioned) == []
    assert journey.state.last_end.failed == ()
    await client.close()
