from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus
from halocline.protocol.permission_rules import Effect
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

ALONE = TaskOptions(approval_mode=ApprovalMode.ASK, attended=False)
DONE = Turn(text="done")


def shell(command):
    return Turn(calls=(Call("execute_command", {"command": command, "requires_approval": False}),))


async def test_a_command_that_only_reads_runs_unasked_and_the_log_says_what_ran(journey):
    journey.write("a.txt", "hello\n")
    await journey.run(shell("cat a.txt | wc -l"), DONE, options=ALONE)
    assert journey.of(ev.ApprovalRequested) == []
    (started,) = journey.of(ev.ToolCallStarted)
    assert (started.title, started.runs) == ("cat a.txt | wc -l", "cat -- a.txt | wc -l")
    assert journey.of(ev.ToolCallEnded)[0].status is CallStatus.COMPLETED


async def test_what_is_asked_about_says_what_was_found_in_it(journey):
    await journey.run(shell("ls; rm -rf build"), DONE, options=ALONE)
    (asked,) = journey.of(ev.ApprovalRequested)
    assert [(part.text, part.effect, part.targets) for part in asked.parts] == [
        ("ls", Effect.READ_ONLY, ()),
        ("rm -rf build", Effect.DESTRUCTIVE, ("build",)),
    ]


async def test_a_folder_that_a_reading_command_went_to_is_the_next_ones(journey):
    journey.write("sub/a.txt", "hello\n")
    await journey.run(shell("cd sub"), shell("cat a.txt"), DONE, options=ALONE)
    assert [end.status for end in journey.of(ev.ToolCallEnded)] == [CallStatus.COMPLETED] * 2
