"""Trajectories of real tasks, judged by Harbor's own models."""

import asyncio
import base64
import json
import subprocess
import sys

import pytest
from tests.journeys.conftest import Journey
from tests.journeys.test_subagents import DONE, asks, client_of, reports
from tests.surfaces.harbor_set_up import MISSING, harbor

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.surfaces.cli.main import run_main
from halocline.surfaces.export.task import Form, export_task

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JUDGE = """
import sys
from harbor.utils.trajectory_validator import TrajectoryValidator
judge = TrajectoryValidator()
sys.exit(None if judge.validate(__import__("pathlib").Path(sys.argv[1])) else "\\n".join(judge.get_errors()))
"""
SECRET = "sk-ant-api03-" + "Zq9" * 31


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)


@pytest.fixture
async def long_task(journey):
    """A task with an image, a failure, sub-agents, a compaction and a rewind."""
    for name in ("a", "b", "c", "d"):
        journey.write(f"{name}.py", "ALPHA = 1\n" + f"{name} = 'a line of many'\n" * 300)
    script = (
        Turn(text="I look.", thinking="Where is it?", calls=(Call("read_file", {"path": "a.py"}),), cost=0.5),
        Turn(calls=(Call("read_file", {"path": "gone.py"}),)),
        *(Turn(calls=(Call("read_file", {"path": f"{name}.py"}),)) for name in "bcd"),
        asks("what is ALPHA?", "what is BETA?"),
        DONE,
        Turn(text="Well."),
    )
    client = client_of(journey, script, (reports("ALPHA is 1"),), (reports("BETA is nowhere"),))
    await journey.open(client)
    shown = await client.attach(journey.task, "shot.png", PNG)
    await journey.prompt(client, f"look, my key is {SECRET}", along=shown)
    client.send(cmd.Compact(task=journey.task))
    async with asyncio.timeout(journey.longest):
        async for event in client.events(journey.task):
            if isinstance(event, ev.Compacted):
                break
    to = client.state(journey.task).seq
    await journey.prompt(client, "a wrong turn")
    await client.time.go_back(cmd.GoBack(task=journey.task, to=to, files=False))
    await journey.prompt(client, "the right one")
    yield client
    await client.close()


@pytest.fixture
def exported(journey, long_task, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HALOCLINE_HOME", str(journey.home.root))
    file = tmp_path / "out" / "task.json"
    file.parent.mkdir()
    assert run_main(["export", journey.task, "-f", "atif", "-o", str(file)]) == 0
    return file


@pytest.mark.skipif(harbor() is None, reason=MISSING)
@pytest.mark.process
async def test_harbor_takes_a_task_with_an_image_failures_sub_agents_a_compaction_and_a_rewind(exported):
    environment = {"PYTHONPATH": str(harbor())}
    judged = subprocess.run([sys.executable, "-c", JUDGE, exported], capture_output=True, text=True, env=environment)
    assert (judged.returncode, judged.stderr) == (0, "")


async def test_steps_are_what_was_said_done_and_paid(exported):
    told = json.loads(exported.read_text())
    steps = told["steps"]
    agent = [step for step in steps if step["source"] == "agent"]
    assert [step["source"] for step in steps[:3]] == ["system", "user", "system"]
    assert [agent[0][name] for name in ("message", "reasoning_content")] == ["I look.", "Where is it?"]
    (call,), (result,) = agent[0]["tool_calls"], agent[0]["observation"]["results"]
    assert (call["function_name"], call["arguments"], call["tool_call_id"]) == (
        "read_file",
        {"path": "a.py"},
        result["source_call_id"],
    )
    assert "ALPHA = 1" in result["content"]
    assert agent[0]["metrics"]["cost_usd"] == 0.5
    assert agent[1]["observation"]["results"][0]["extra"]["status"] == "failed"


async def test_what_a_rewind_took_back_is_left_out_and_said(exported):
    told = json.loads(exported.read_text())
    messages = [step["message"] for step in told["steps"]]
    assert "the right one" in messages
    assert "a wrong turn" not in messages
    assert "(1)" in told["notes"]


async def test_sub_agents_are_trajectories_within_that_of_their_parent(exported):
    told = json.loads(exported.read_text())
    asked = next(
        step for step in told["steps"] if (step.get("tool_calls") or [{}])[0].get("function_name") == "use_subagents"
    )
    named = {ref["trajectory_id"] for ref in asked["observation"]["results"][0]["subagent_trajectory_ref"]}
    assert named == {child["trajectory_id"] for child in told["subagent_trajectories"]}
    assert len(named) == 2


async def test_a_compaction_is_a_step_that_replaces_the_context(exported):
    steps = json.loads(exported.read_text())["steps"]
    (made,) = [step for step in steps if "context_management" in step.get("extra", {})]
    assert made["extra"]["context_management"]["type"] == "compaction"


async def test_an_image_is_a_file_beside_the_trajectory_and_no_key_is_in_it(exported):
    told = exported.read_text()
    (part,) = [part for part in json.loads(told)["steps"][1]["message"] if part["type"] == "image"]
    assert (exported.parent / part["source"]["path"]).read_bytes().startswith(b"\x89PNG")
    assert SECRET not in told


async def test_without_a_file_images_are_named_in_words(journey, long_task):
    text = export_task(long_task.past(journey.task), Form.ATIF, str, long_task.past)
    assert "[an image, image/png, " in text


def test_the_events_that_a_fork_shares_with_its_source_are_copied_context():
    started = ev.TaskStarted(
        "/w", "m", Mode.ACT, ApprovalMode.ASK, "", "1", forked_from="x", forked_at=2, seq=1, at=1.0
    )
    events = (started, ev.TurnStarted((Text("old"),), seq=2, at=2.0), ev.TurnStarted((Text("new"),), seq=3, at=3.0))
    steps = json.loads(export_task(events, Form.ATIF, str))["steps"]
    assert [step.get("is_copied_context") for step in steps] == [True, None]
