import os
from pathlib import Path

import pytest

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

FILE = Path(__file__).with_name("everyday.txt")
MOST_NEEDLESS = 3


def commands(section):
    text = FILE.read_text(encoding="utf-8").partition(f"# {section}\n")[2].partition("\n# ")[0]
    return [line.replace("⏎", "\n") for line in text.splitlines()]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everyday") / "w"
    for name in ("src/main.py", "tests/test_main.py", "README.md", "a.txt", "b.txt", "data.csv", "package.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    (folder.parent / "home").mkdir()
    return folder


def verdict(workspace, command):
    facts = LocalShellFacts({"PATH": os.environ["PATH"]})
    posture = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, ApprovalMode.ASK, facts=facts)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture).verdict.value


def test_the_list_is_large_and_says_nothing_twice():
    every = [*commands("reads"), *commands("does more")]
    assert len(every) >= 300
    assert len(set(every)) == len(every)


def test_hardly_any_everyday_command_that_reads_asks(workspace):
    asked = [command for command in commands("reads") if verdict(workspace, command) != "allow"]
    assert len(asked) <= MOST_NEEDLESS, asked


def test_everyday_commands_that_do_more_are_asked_about_and_never_denied(workspace):
    wrong = [command for command in commands("does more") if verdict(workspace, command) != "ask"]
    assert wrong == []
