import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from halocline.checkpoints.unkept import find_unkept
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind

FILE = Path(__file__).with_name("everyday_agents.txt")
FILES = ("src/main.py", "src/app.py", "tests/test_main.py", "README.md", "a.txt", "b.txt", "data.csv", "data.json")
MORE = ("app.log", "Makefile", "node_modules/.bin/tsc", "build.sh", ".venv/bin/activate")
MOST_NEEDLESS = 0.01
MOST_BYTES = 1 << 20
WORK = "ask ask ask allow"
EDITS = "ask ask allow allow"
MODES = (ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS, ApprovalMode.AUTO)


def commands(section):
    text = FILE.read_text(encoding="utf-8").partition(f"# {section}\n")[2].partition("\n# ")[0]
    return [line.replace("⏎", "\n") for line in text.splitlines()]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents") / "w"
    for name in (*FILES, *MORE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    (folder / "package.json").write_text('{"name": "x", "scripts": {"build": "x", "test": "x"}}')
    (folder.parent / "home").mkdir()
    (folder / "build").mkdir()
    (folder / "build" / "out.bin").write_text("x\n")
    (folder / ".gitignore").write_text("build\nnode_modules\n*.log\n*.pyc\n")
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def facts():
    return LocalShellFacts({"PATH": os.environ["PATH"]}, partial(find_unkept, largest=MOST_BYTES))


@pytest.fixture(autouse=True)
def _home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")  # not below /tmp, which the sandbox has its own of


def verdicts(workspace, facts, command):
    """The answers of ask, accept-edits and auto mode, and of auto mode with a full sandbox."""
    full = SandboxChecked(standing=SandboxStanding.FULL)
    found = []
    for mode, box in (*((mode, None) for mode in MODES), (ApprovalMode.AUTO, full)):
        posture = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, mode, facts=facts)
        posture = PolicyContext(**{**_fields(posture), "sandbox": box}) if box else posture
        summary = Summary(command, ToolKind.EXECUTE, command=command, in_sandbox=True if box else None)
        found.append(decide_call(summary, posture).verdict.value)
    return " ".join(found)


def _fields(posture):
    return {name: getattr(posture, name) for name in posture.__struct_fields__}


def test_the_list_is_large_and_says_nothing_twice():
    other = set(FILE.with_name("everyday.txt").read_text(encoding="utf-8").splitlines())
    reads = commands("reads")
    assert len(reads) >= 300
    assert len(set(reads)) == len(reads)
    assert other & set(reads) == set()


@pytest.mark.slow
def test_hardly_anything_that_only_reads_asks_in_any_mode(workspace, facts):
    asks = [one for one in commands("reads") if verdicts(workspace, facts, one) != "allow allow allow allow"]
    assert len(asks) <= MOST_NEEDLESS * len(commands("reads")), asks


def test_work_that_runs_code_asks_in_ask_mode_and_in_auto_without_a_sandbox(workspace, facts):
    assert {one: found for one in commands("work") if (found := verdicts(workspace, facts, one)) != WORK} == {}


def test_edits_ask_in_ask_mode_and_not_in_auto(workspace, facts):
    assert {one: found for one in commands("edits") if (found := verdicts(workspace, facts, one)) != EDITS} == {}


def test_what_a_sandbox_holds_is_not_asked_about_there(workspace, facts):
    found = {one: verdicts(workspace, facts, one) for one in commands("held by a sandbox")}
    assert {one: verdict for one, verdict in found.items() if verdict != "ask ask ask allow"} == {}


def test_what_may_lose_files_is_asked_about_everywhere(workspace, facts):
    found = {one: verdicts(workspace, facts, one) for one in commands("always asks")}
    assert {one: verdict for one, verdict in found.items() if verdict != "ask ask ask ask"} == {}
