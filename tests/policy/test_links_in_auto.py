"""A link in the workspace does not let auto mode read or change what is outside."""

import os

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

COMMANDS = [
    "jq . link [ab].txt",
    "jq . folder/a [ab].txt",
    "jq . 'my link' [ab].txt",
    "prettier link",
    "eslint folder",
    "pytest folder",
    "ruff check link",
    "mypy --config-file=link a.txt",
    "tsc -p folder",
    "node link",
    "cat link",
    "cp link new.txt",
    "sed -i s/a/b/ folder/a",
    "echo x >> link",
    "touch folder/new",
    "mkdir folder/new",
]


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").touch()
    workspace = tmp_path / "w"
    workspace.mkdir()
    for name in ("link", "my link"):
        (workspace / name).symlink_to("../out/a")
    (workspace / "folder").symlink_to("../out")
    for name in ("a.txt", "b.txt", "build"):
        (workspace / name).touch()
    return workspace


def judged(workspace, command):
    facts = LocalShellFacts({"PATH": os.environ["PATH"]})
    context = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, ApprovalMode.AUTO, facts=facts)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), context).verdict


@for_each("command", COMMANDS)
def test_a_name_that_leads_outside_is_asked_about(workspace, command):
    assert judged(workspace, command) == "ask"


@pytest.mark.parametrize("command", ["cat a.txt", "cp a.txt c.txt", "sed -i s/a/b/ a.txt", "mkdir build/x"])
def test_names_of_the_project_are_not_asked_about(workspace, command):
    assert judged(workspace, command) == "allow"
