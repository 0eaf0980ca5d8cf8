import re

import pytest

from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.tools.job import NOTHING_NEW, Action, Input, summary
from halocline.tools.time_limits import read_seconds

pytestmark = pytest.mark.slow


async def test_a_job_is_listed_read_and_stopped(say):
    assert await say("job", action="list") == "No jobs."
    await say("execute_command", command="echo ready; sleep 60", background=True)
    assert re.fullmatch(r"job-1: echo ready; sleep 60\n\[running for .* s, printing\]", await say("job", action="list"))
    assert await say("job", action="read", job="job-1") == NOTHING_NEW.format(job="job-1")
    assert re.fullmatch(r"\[no new.*\]\n\[job-1: running .*\]", await say("job", action="read", job="job-1", wait=0.01))
    assert "[job-1: stopped (on request) after" in await say("job", action="stop", job="job-1")


async def test_waiting_for_an_end_gives_the_exit_code(say):
    await say("execute_command", command="read x; echo $x; exit 3", tty=True)
    assert (await say("job", action="write", job="job-1", text="word\n")).startswith("word\n")
    assert "ended with exit code 3 after" in await say("job", action="read", job="job-1", wait=20)


async def test_a_wait_that_is_no_time_is_said(say):
    await say("execute_command", command="echo ready; sleep 60", background=True)
    text = await say("job", action="read", job="job-1", wait=-5)
    assert re.fullmatch(r"\[no new.*\]\n\[job-1: running .*; wait=-5 is no time in seconds, so none applied\]", text)


def test_a_wait_is_cut_to_the_longest():
    assert read_seconds("wait", 600_000, 0.0, 600.0) == (
        600.0,
        "wait=600000 is over the longest, 600 s, which applied (it is in seconds, not milliseconds)",
    )


async def test_nothing_to_type_is_a_failure(say):
    with pytest.raises(ToolFailure, match="text is empty"):
        await say("job", action="write", job="job-1")


@pytest.mark.parametrize(
    ("input", "kind", "command"),
    [
        (Input(Action.LIST), ToolKind.READ, ""),
        (Input(Action.READ, "job-1"), ToolKind.READ, ""),
        (Input(Action.STOP, "job-1"), ToolKind.OTHER, ""),
        (Input(Action.WRITE, "job-1", "\x03"), ToolKind.OTHER, ""),
        (Input(Action.WRITE, "job-1", "\n"), ToolKind.OTHER, ""),
        (Input(Action.WRITE, "job-1", "rm -rf x\n"), ToolKind.EXECUTE, "rm -rf x\n"),
        (Input(Action.WRITE, "job-1", "y\n"), ToolKind.EXECUTE, "y\n"),
    ],
)
def test_what_is_typed_is_judged_as_a_command_and_a_key_is_not(input: Input, kind: ToolKind, command: str):
    told = summary(input)
    assert (told.kind, told.command, told.place) == (kind, command, "job-1" if command else "")
