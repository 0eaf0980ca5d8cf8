import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

FOLDER = Path(__file__).parent / "commands"
MOST_FRICTION = 0.03


def cases():
    for path in sorted(FOLDER.glob("*.toml")):
        groups = tomllib.loads(path.read_text(encoding="utf-8"))
        expect = groups.pop("expect")
        accept = groups.pop("accept", [expect])
        for name, group in groups.items():
            yield from ((path.stem, name, command, expect, accept) for command in group["commands"])


CASES = list(cases())


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "w"
    for name in (
        "src/app/x.ts",
        "src/lib/y.ts",
        "src/main.py",
        "tests/t.py",
        "README.md",
        "LICENSE",
        "data.csv",
        "server.pem",
        ".env",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    (folder / "links").mkdir()
    (folder / "links" / "out").symlink_to("/etc")
    (folder / "links" / "file").symlink_to("/etc/hosts")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/x\n'
    )
    (folder.parent / "home").mkdir()
    return folder


def placed(command, workspace):
    """With the corpus' letters for the workspace and Halocline's home as paths."""
    words = re.sub(r"(?<=[ =])H(?=[/ ]|$)", f"{workspace.parent}/home", command)
    return re.sub(r"(?<= )W(?=[/ ]|$)", str(workspace), words)


def judged(command, workspace, approval_mode=ApprovalMode.ASK, mode=Mode.ACT):
    words = placed(command, workspace)
    posture = PolicyContext(workspace, workspace.parent / "home", mode, approval_mode, facts=LocalShellFacts({}))
    return decide_call(Summary(words, ToolKind.EXECUTE, command=words), posture).verdict.value


def test_the_corpus_is_large_and_says_nothing_twice():
    assert len(CASES) >= 400
    assert len({case[2] for case in CASES}) == len(CASES)


@pytest.mark.slow
def test_nothing_is_allowed_that_may_not_be(workspace):
    wrong = [case[:3] for case in CASES if "allow" not in case[4] and judged(case[2], workspace) == "allow"]
    assert wrong == []


def test_common_reading_does_not_nag(workspace, record_property):
    right = [case for case in CASES if case[4] == ["allow"]]
    asked = [case[:3] for case in right if judged(case[2], workspace) != "allow"]
    record_property("needless_asks", f"{len(asked)} of {len(right)}")
    if os.environ.get("CORPUS_FIGURES"):
        sys.stdout.write(f"\nneedless asks: {len(asked)} of {len(right)} ({len(asked) / len(right):.1%})\n")
    assert len(asked) / len(right) <= MOST_FRICTION, asked


@pytest.mark.parametrize("approval_mode", ApprovalMode)
@pytest.mark.parametrize("mode", Mode)
def test_what_may_never_be_is_denied_in_every_mode(workspace, mode, approval_mode):
    never = [case[2] for case in CASES if case[3] == "deny"]
    assert [command for command in never if judged(command, workspace, approval_mode, mode) != "deny"] == []


def test_an_everyday_command_is_never_denied(workspace):
    assert [case[:3] for case in CASES if case[0].startswith("everyday") and judged(case[2], workspace) == "deny"] == []


@pytest.mark.slow
def test_plan_mode_runs_only_what_reads(workspace):
    wrong = [
        case[:3] for case in CASES if case[0] == "attacks" and judged(case[2], workspace, mode=Mode.PLAN) == "allow"
    ]
    assert wrong == []
    runs = [
        case
        for case in CASES
        if case[0] == "everyday_reading" and judged(case[2], workspace, mode=Mode.PLAN) == "allow"
    ]
    assert len(runs) > 200
