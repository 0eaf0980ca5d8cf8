"""Everyday commands of coding agents: how many of them are asked about without need."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.unkept import find_unkept
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

COMMANDS = Path(__file__).with_name("commands")
MOST_NEEDLESS = 0.01
OFF, FULL = SandboxChecked(), SandboxChecked(standing=SandboxStanding.FULL)
FILES = {
    "src/main.py": "import util\n\n\ndef main():\n    return foo(1)\n",
    "src/util.py": "def foo(a):\n    return a\n",
    "src/__init__.py": "",
    "tests/test_main.py": "def test_one():\n    pass\n",
    "docs/guide.md": "# Guide\n",
    "docs/open/a.md": "foo p\n",
    "docs/research/b.md": "foo\n",
    "README.md": "# Project\n",
    "a.txt": "one\ntwo\n",
    "b.txt": "two\n",
    "app.txt": "10:00 start\n",
    "data.csv": "a,1\nb,2\n",
    "data.json": '[{"a": 1}, {"a": 2}]\n',
    "package.json": '{"name": "x", "scripts": {"build": "x", "test": "x", "lint": "x", "dev": "x", "start": "x"}}',
    "pyproject.toml": "[project]\nname = 'x'\n",
    "Makefile": "test:\n\ttrue\n",
    "build.sh": "true\n",
    "gradlew": "true\n",
    "scripts/test.sh": "true\n",
    "fix.patch": "",
    "list.txt": "a\nb\n",
    "web/package.json": '{"scripts": {"build": "x", "test": "x"}}',
    ".gitignore": "node_modules\n.venv\n__pycache__\n.env\nprivate/\n",
    "node_modules/x/index.js": "1\n",
    ".venv/bin/activate": "\n",
    ".env": "TOKEN=x\n",
    "private/key.txt": "x\n",
    "secret/plan.md": "x\n",
}
UNTRACKED = ("node_modules/x/index.js", ".venv/bin/activate", ".env", "private/key.txt")
HIDES = RuleBook(
    ignored=("private/",),
    rules=(Rule(Verdict.DENY, name="no secret plans", paths=("secret/**",)),),
)


def list_commands(name):
    lines = (COMMANDS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = (tmp_path_factory.mktemp("needless") / "w").resolve()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "empty").mkdir()
    (folder.parent / "home").mkdir()
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"], ["branch", "other"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | who)
    return folder


def list_asking(name, workspace, mode, box=OFF, book=None):
    """The commands of a list that are not allowed, each with the reason."""
    unkept = partial(find_unkept, largest=Limits().largest)
    facts = LocalShellFacts({"PATH": os.environ["PATH"], "HOME": str(workspace.parent)}, unkept)
    home = workspace.parent / "home"
    context = PolicyContext(workspace, home, Mode.ACT, mode, facts=facts, sandbox=box, book=book or RuleBook())
    found = {}
    for command in list_commands(name):
        call = Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command", in_sandbox=True)
        decision = decide_call(call, context)
        if decision.verdict is not Verdict.ALLOW:
            found[command] = f"{decision.verdict} {decision.rule}: {decision.reason}"
    return found


def show_asking(found):
    return f"{len(found)} are asked about:\n" + "\n".join(f"  {command!r}: {why}" for command, why in found.items())


@pytest.mark.parametrize("name", ["everyday_reading_300", "everyday_work_300"])
def test_the_lists_are_large_and_say_nothing_twice(name):
    commands = list_commands(name)
    assert len(commands) >= 300
    assert len(set(commands)) == len(commands)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("book", [None, HIDES], ids=["nothing-hidden", "ignore-file-and-deny-rule"])
def test_hardly_any_reading_is_asked_about_in_ask_mode(workspace, book):
    found = list_asking("everyday_reading_300", workspace, ApprovalMode.ASK, book=book)
    assert len(found) <= MOST_NEEDLESS * len(list_commands("everyday_reading_300")), show_asking(found)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("book", [None, HIDES], ids=["nothing-hidden", "ignore-file-and-deny-rule"])
def test_hardly_any_work_is_asked_about_in_auto_mode_with_a_full_sandbox(workspace, book):
    found = list_asking("everyday_work_300", workspace, ApprovalMode.AUTO, FULL, book)
    assert len(found) <= MOST_NEEDLESS * len(list_commands("everyday_work_300")), show_asking(found)
