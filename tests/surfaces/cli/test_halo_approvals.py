"""Runs whose approvals another program gives, through a folder of files."""

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call, ended, shell

from halocline.protocol import events as ev

pytestmark = pytest.mark.slow
RISKY = {"call": [shell("touch one", risky=True)]}
DONE = {"text": "Done it."}
BASH = """
cd "$1" || exit
until ls *.request.json >/dev/null 2>&1; do sleep 0.05; done
for asked in *.request.json; do
  id=${asked%.request.json}
  token=$(grep '"token"' "$asked" | cut -d'"' -f4)
  printf '{"id": "%s", "token": "%s", "decision": "allow"}' "$id" "$token" > "$id.tmp"
  mv "$id.tmp" "$id.decision.json"
done
"""
PYTHON = """
import json, os, sys, time
folder, answers = sys.argv[1], json.loads(sys.argv[2])
while answers:
    time.sleep(0.05)
    for name in sorted(os.listdir(folder)):
        if answers and name.endswith(".request.json"):
            asked = json.load(open(os.path.join(folder, name)))
            fresh = os.path.join(folder, ".fresh")
            with open(fresh, "w") as file:
                json.dump({"id": asked["id"], "token": asked["token"], **answers.pop(0)}, file)
            os.rename(fresh, os.path.join(folder, asked["id"] + ".decision.json"))
            while os.path.exists(os.path.join(folder, name)):
                time.sleep(0.02)
"""


@pytest.fixture
def desk(halo: Halo) -> Path:
    """The folder through which another program answers."""
    folder = halo.home / "approvals" / "desk"
    folder.mkdir(parents=True, mode=0o700)
    for place in (halo.home, halo.home / "approvals"):
        place.chmod(0o700)
    return folder


@asynccontextmanager
async def program(*words: str) -> AsyncIterator[None]:
    running = await asyncio.create_subprocess_exec(*words)
    try:
        yield
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()


def decisions(halo: Halo) -> list[ev.ApprovalResolved]:
    return [event for event in halo.log() if isinstance(event, ev.ApprovalResolved)]


async def until(folder: Path, pattern: str) -> Path:
    async with asyncio.timeout(30):
        while not (found := sorted(folder.glob(pattern))):
            await asyncio.sleep(0.02)
    return found[0]


async def asking(halo: Halo, *turns: dict, name: str = "desk") -> Process:
    return await halo.start("run", "--approvals", name, "-m", halo.script(*turns), "go", stdout=PIPE, stderr=PIPE)


async def test_a_shell_script_approves(halo: Halo, desk: Path) -> None:
    async with program("bash", "-c", BASH, "bash", str(desk)):
        done = await ended(await asking(halo, RISKY, DONE, name=str(desk)))
    assert (done.code, (halo.folder / "one").exists()) == (0, True)
    assert [(one.decision, one.client) for one in decisions(halo)] == [("allow_once", "approver")]
    assert list(desk.iterdir()) == []


async def test_a_program_denies_edits_allows_always_and_answers(halo: Halo, desk: Path) -> None:
    again = {"call": [shell("touch four", risky=True)]}
    asks = {"call": [call("ask_followup_question", question="Which?", options=["a", "b"])]}
    answers = [
        {"decision": "deny", "note": "not this one"},
        {"decision": "allow", "command": "touch three", "note": "better so"},
        {"decision": "allow", "always": "task"},
        {"answer": "b"},
    ]
    turns = (RISKY, {"call": [shell("touch two", risky=True)]}, again, again, asks, DONE)
    async with program(sys.executable, "-c", PYTHON, str(desk), json.dumps(answers)):
        done = await ended(await asking(halo, *turns))
    assert done.code == 0
    assert sorted(file.name for file in halo.folder.iterdir()) == ["four", "three"]
    assert [(one.decision, one.note) for one in decisions(halo)] == [
        ("reject_once", "not this one"),
        ("allow_once", "better so"),
        ("allow_always", ""),
    ]
    assert [event.answer for event in halo.log() if isinstance(event, ev.QuestionAnswered)] == ["b"]


async def test_an_edited_command_is_judged_anew(halo: Halo, desk: Path) -> None:
    answers = [{"decision": "allow", "command": f"cat {halo.home}/settings.toml"}]
    async with program(sys.executable, "-c", PYTHON, str(desk), json.dumps(answers)):
        done = await ended(await asking(halo, RISKY, DONE))
    (end,) = [event for event in halo.log() if isinstance(event, ev.ToolCallEnded)]
    assert (done.code, end.status) == (0, "rejected")


async def test_what_is_wrong_or_late_is_told_so_and_changes_nothing(halo: Halo, desk: Path) -> None:
    running = await asking(halo, RISKY, {"call": [shell("sleep 1", risky=True)]}, DONE)
    first = await until(desk, "*.request.json")
    asked = json.loads(first.read_text())
    decision = desk / f"{asked['id']}.decision.json"
    error = desk / f"{asked['id']}.error.json"
    decision.write_text(json.dumps({"id": asked["id"], "token": "guessed", "decision": "allow"}))
    assert "token" in (await until(desk, "*.error.json")).read_text()
    right = json.dumps({"id": asked["id"], "token": asked["token"], "decision": "deny"})
    decision.write_text(right)
    async with asyncio.timeout(30):
        while not (others := [one for one in desk.glob("*.request.json") if one != first]):
            await asyncio.sleep(0.02)
    (second,) = others
    assert not error.exists()
    decision.write_text(right.replace("deny", "allow"))
    await until(desk, error.name)
    assert "No such request is waiting" in error.read_text()
    asked = json.loads(second.read_text())
    (desk / f"{asked['id']}.decision.json").write_text(
        json.dumps({"id": asked["id"], "token": asked["token"], "decision": "allow"})
    )
    assert (await ended(running)).code == 0
    assert not (halo.folder / "one").exists()
    assert [one.decision for one in decisions(halo)] == ["reject_once", "allow_once"]


REACHES = (
    "echo x > {desk}/a.decision.json",
    "cat {desk}/*.request.json",
    "cp a {desk}",
    "ls {desk}",
    "rm -r {desk}",
    "mv {desk} elsewhere",
    "ln -s {desk} here",
    "cd {desk} && ls",
    "find {desk} -name '*.json'",
)


@pytest.mark.parametrize("command", REACHES)
async def test_the_models_commands_do_not_reach_the_folder_in_yolo(halo: Halo, desk: Path, command: str) -> None:
    (halo.folder / "a").touch()
    script = halo.script({"call": [shell(command.format(desk=desk))]}, DONE)
    done = await halo.run("run", "-y", "--approvals", "desk", "-m", script, "go")
    (end,) = [event for event in halo.log() if isinstance(event, ev.ToolCallEnded)]
    assert (done.code, end.status) == (0, "rejected")
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize(
    "tool",
    [
        call("write_to_file", path="{desk}/a.decision.json", content="{}"),
        call("read_file", path="{desk}/a"),
        call("list_files", path="{desk}"),
        call("search_files", path="{desk}", regex="token"),
    ],
)
async def test_the_models_tools_do_not_reach_the_folder_in_yolo(halo: Halo, desk: Path, tool: dict) -> None:
    arguments = {name: value.replace("{desk}", str(desk)) for name, value in tool["arguments"].items()}
    await halo.run(
        "run", "-y", "--approvals", "desk", "-m", halo.script({"call": [tool | {"arguments": arguments}]}, DONE), "go"
    )
    (end,) = [event for event in halo.log() if isinstance(event, ev.ToolCallEnded)]
    assert end.status == "rejected"


async def test_a_folder_that_is_removed_while_it_is_asked_ends_the_run(halo: Halo, desk: Path) -> None:
    running = await asking(halo, RISKY, DONE)
    await until(desk, "*.request.json")
    shutil.rmtree(desk)
    done = await ended(running)
    assert (done.code, (halo.folder / "one").exists()) == (1, False)
    assert "Cannot use the approvals folder" in done.err


async def test_a_run_that_is_interrupted_leaves_no_request(halo: Halo, desk: Path) -> None:
    running = await asking(halo, RISKY, DONE)
    await until(desk, "*.request.json")
    running.terminate()
    assert (await ended(running)).code == 130
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize("name", ["/tmp", "../tasks", "../.."])
async def test_a_folder_elsewhere_is_refused_before_anything_begins(halo: Halo, name: str) -> None:
    done = await halo.run("run", "--approvals", name, "-m", halo.script(DONE), "go")
    assert (done.code, halo.tasks) == (2, [])
    assert "cannot be used for approvals" in done.err


async def test_the_variable_names_the_folder_of_runs_at_which_nobody_sits(halo: Halo, desk: Path) -> None:
    halo.env["HALOCLINE_APPROVALS"] = "desk"
    async with program("bash", "-c", BASH, "bash", str(desk)):
        done = await halo.run("-p", "-m", halo.script(RISKY, DONE), "go")
    assert (done.code, done.out) == (0, "Done it.\n")
    assert (halo.folder / "one").exists()


async def test_a_run_without_a_folder_asks_nobody(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(RISKY, DONE), "go")
    assert done.code == 4
    assert not (halo.folder / "one").exists()
