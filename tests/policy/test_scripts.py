import json
import os

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

PACKAGE = {"scripts": {"test": "node t.js", "pretest": "node before.js", "build": "tsc"}}


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "w"
    for name in (
        "build.sh",
        "tools/x.py",
        "tools/__main__.py",
        "Makefile",
        "sub/go.sh",
        "data.csv",
        "load.js",
        "app.js",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    (folder / "package.json").write_text(json.dumps(PACKAGE))
    (folder / "program").write_bytes(b"\x7fELF\0\0")
    (folder / "long.sh").write_bytes(b"#" * (9 << 20))
    (tmp_path / "outside.sh").write_text("x\n")
    return folder


def judged(workspace, command, *grants, mode=ApprovalMode.ASK, **more):
    posture = PolicyContext(
        workspace, workspace.parent / "home", Mode.ACT, mode, frozenset(grants), facts=LocalShellFacts({}), **more
    )
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture)


def names(decision):
    return [entry.rpartition("=")[0] for entry in decision.scripts]


@for_each(
    "command, scripts",
    [
        ("./build.sh --all", ["build.sh"]),
        ("sh build.sh", ["build.sh"]),
        ("sh -e build.sh", ["build.sh"]),
        ("cat build.sh | sh", ["build.sh"]),
        ("cat build.sh tools/x.py | tee log | bash -e", ["build.sh", "tools/x.py"]),
        ("cat build.sh | env X=1 sh -s x", ["build.sh"]),
        ("sed 's/a/b/' tools/x.py | python3 -", ["tools/x.py"]),
        ("sh < build.sh", ["build.sh"]),
        ("cd sub && cat go.sh | sudo bash", ["sub/go.sh"]),
        ("cat data.csv | python tools/x.py", ["tools/x.py"]),
        ("cat data.csv | sh -c 'wc -l'", []),
        ("cat data.csv | grep sh", []),
        (". ./build.sh", ["build.sh"]),
        ("cd sub && ./go.sh", ["sub/go.sh"]),
        ("env X=1 timeout 5 ./build.sh", ["build.sh"]),
        ("sh -c './build.sh && make'", ["Makefile", "build.sh"]),
        ("python tools/x.py data.csv", ["tools/x.py"]),
        ("python3.12 -W ignore -u tools/x.py", ["tools/x.py"]),
        ("python -m tools.x", ["tools/x.py"]),
        ("python -m tools", ["tools/__main__.py"]),
        ("python -c 'import build.sh'", []),
        ("node -r ./load.js app.js", ["app.js", "load.js"]),
        ("node -e 1 app.js", []),
        ("uv run tools/x.py", ["tools/x.py"]),
        ("poetry run python tools/x.py", ["tools/x.py"]),
        ("npm test", ["package.json#test"]),
        ("npm run build -- --watch", ["package.json#build"]),
        ("cd sub && npm test", ["sub/package.json#test"]),
        ("npm ci", []),
        ("yarn build", ["package.json#build"]),
        ("make t", ["Makefile"]),
        ("make -C sub t", []),
        ("make -f data.csv", ["data.csv"]),
        ("make -fdata.csv", ["data.csv"]),
        ("./not-there-yet.sh", []),
        ("../outside.sh", []),
        ("/usr/bin/env true", []),
        ("pytest -q", []),
        ("cargo build", []),
    ],
)
def test_what_a_command_runs_is_known(workspace, command, scripts):
    assert names(judged(workspace, command)) == scripts


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [
        ("./build.sh", "build.sh", "rm -rf x\n"),
        ("python tools/x.py", "tools/x.py", "print()\n"),
        ("npm test", "package.json", json.dumps({"scripts": {**PACKAGE["scripts"], "test": "node other.js"}})),
        ("npm test", "package.json", json.dumps({"scripts": {**PACKAGE["scripts"], "posttest": "node other.js"}})),
        ("make t", "Makefile", "t:\n\trm x\n"),
        ("./long.sh", "long.sh", "short\n"),
        ("./program", "program", "now a text\n"),
        ("./not-there-yet.sh", "not-there-yet.sh", "x\n"),
    ],
)
def test_leave_for_a_command_is_leave_for_what_its_scripts_hold(workspace, command, file, text):
    grant = judged(workspace, command).grant
    assert judged(workspace, command, grant).verdict == "allow"
    (workspace / file).write_text(text)
    asked = judged(workspace, command, grant)
    assert asked.verdict == "ask"
    assert f"{file} changed since you allowed this; " in asked.reason.replace("#test", "")
    assert asked.grant != grant
    assert judged(workspace, command, grant, asked.grant).verdict == "allow"


def test_other_scripts_of_a_package_may_change(workspace):
    grant = judged(workspace, "npm test").grant
    (workspace / "package.json").write_text(json.dumps({"scripts": {**PACKAGE["scripts"], "build": "esbuild"}}))
    assert judged(workspace, "npm test", grant).verdict == "allow"


def test_leave_for_commands_that_begin_alike_is_for_the_same_script(workspace):
    wider = judged(workspace, "make t").wider
    assert wider.argv == ("make", "t")
    assert judged(workspace, "make t -j2", wider).verdict == "allow"
    assert judged(workspace, "make t V=1", wider).verdict == "ask"
    assert judged(workspace, "make t -f data.csv", wider).verdict == "ask"
    assert judged(workspace, "cd sub && make t", wider).verdict == "ask"
    (workspace / "Makefile").write_text("t:\n\trm x\n")
    asked = judged(workspace, "make t V=1", wider)
    assert (asked.verdict, "Makefile changed since you allowed this" in asked.reason) == ("ask", True)


def test_a_link_is_what_it_leads_to(workspace):
    (workspace / "run.sh").symlink_to(workspace / "build.sh")
    grant = judged(workspace, "./run.sh").grant
    (workspace / "build.sh").write_text("other\n")
    assert judged(workspace, "./run.sh", grant).verdict == "ask"


def test_a_pipe_in_the_place_of_a_script_keeps_nobody_waiting(workspace):
    os.mkfifo(workspace / "pipe.sh")
    assert judged(workspace, "sh pipe.sh").scripts == ()


def test_never_holds_whatever_becomes_of_the_script(workspace):
    grant = judged(workspace, "./build.sh").grant
    (workspace / "build.sh").write_text("other\n")
    assert judged(workspace, "./build.sh", refusals=frozenset({grant}), mode=ApprovalMode.YOLO).verdict == "deny"
