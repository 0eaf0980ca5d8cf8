"""Commands that a program makes are checked where it sends them: words become values, or are refused."""

import pytest

import halocline
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.commands import check_command
from halocline.protocol.kinds import ApprovalMode, Choice, Mode
from halocline.protocol.messages import Effort, Text
from halocline.testing import Call, Turn


@pytest.mark.parametrize(
    ("command", "checked"),
    [
        (cmd.ResolveApproval(task="t", request="r", decision="allow_once"), {"decision": Choice.ALLOW_ONCE}),
        (cmd.SetMode(task="t", mode="plan"), {"mode": Mode.PLAN}),
        (cmd.SetPolicy(task="t", approval_mode="yolo"), {"approval_mode": ApprovalMode.YOLO}),
        (cmd.SetEffort(task="t", effort="high"), {"effort": Effort.HIGH}),
        (cmd.SubmitPrompt(task="t", content=[Text("x")]), {"content": (Text("x"),)}),
    ],
)
def test_a_word_in_a_command_becomes_its_value(command, checked):
    found = check_command(command)
    for name, value in checked.items():
        assert (getattr(found, name), type(getattr(found, name))) == (value, type(value))


@pytest.mark.parametrize(
    "command",
    [
        cmd.ResolveApproval(task="t", request="r", decision="yes"),
        cmd.ResolveApproval(task="t", request="r", decision=None),
        cmd.SetMode(task="t", mode="dream"),
        cmd.SubmitPrompt(task="t", content="text"),
        cmd.SetEffort(task="t", budget=-1),
        cmd.Steer(task="t", content=(object(),)),
    ],
)
def test_a_value_that_a_field_cannot_have_is_refused_with_a_sentence(command):
    with pytest.raises(halocline.UsageError, match=f"The command {type(command).__name__} is not valid"):
        check_command(command)


@pytest.mark.slow
@pytest.mark.parametrize(("decision", "written"), [("allow_once", True), ("reject_once", False)])
async def test_a_decision_given_as_text_is_taken(scripted, workspace, decision, written):
    model = scripted(Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "x"}),)), "done")
    async with halocline.open(folder=workspace, model=model, on_question=lambda asked: None) as task:
        task._options["on_approval"] = None
        task._answering.cancel()
        await task.send("go")
        async for event in task.events():
            if isinstance(event, ev.ApprovalRequested):
                with pytest.raises(halocline.UsageError):
                    task.send_command(cmd.ResolveApproval(task=task.id, request=event.request, decision="perhaps"))
                assert task.send_command(cmd.ResolveApproval(task=task.id, request=event.request, decision=decision))
            if isinstance(event, ev.TurnEnded):
                break
    assert (workspace / "a.txt").exists() is written
