"""A script or names that come through a program's input are judged, whatever stands between the text and the reader."""

from itertools import product
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import RuleBook, Verdict

AROUND = """
%s
eval %s
eval '%s'
eval eval %s
command %s
env %s
time %s
bash -c '%s'
bash -lc "%s"
{ %s; }
( %s )
if true; then %s; fi
while true; do %s; break; done
f() { %s; }; f
f() { eval %s; }; f
{ eval '%s'; }
""".strip().splitlines()
READERS = {
    "bash": "tail -n 2 src/../sub/c.txt",
    "sh": "cat sub/c.txt",
    "xargs cat": "sub/c.txt",
    "xargs -n 1 cat": "src/a.py sub/c.txt",
}
FEEDS = ["{} <<< '{}'", "{} << 'X'\n{}\nX", "echo '{1}' | {0}", "printf '%s\\n' '{1}' | {0}"]


@pytest.fixture(scope="module")
def posture(tmp_path_factory: pytest.TempPathFactory) -> PolicyContext:
    workspace = tmp_path_factory.mktemp("w")
    for folder in ("src", "sub"):
        (workspace / folder).mkdir()
    for file in ("src/a.py", "sub/c.txt"):
        (workspace / file).write_text("x\n")
    facts = LocalShellFacts({}, lambda paths, roots: ())
    book = RuleBook(ignored=("sub/c.txt",))
    return PolicyContext(workspace, Path("/nowhere"), Mode.ACT, ApprovalMode.YOLO, facts=facts, book=book)


@for_each("around, reader, feed", list(product(AROUND, READERS, FEEDS)))
def test_what_is_fed_to_a_program_is_judged_as_what_it_does(
    posture: PolicyContext, around: str, reader: str, feed: str
) -> None:
    if "f()" in around and "|" in feed:
        definition, call = around.split("; f", 1)[0], "f"
        command = f"{definition % reader}; {feed.format(call, READERS[reader])}"
    else:
        command = feed.format(around % reader, READERS[reader])
    decision = decide_call(Summary(command, ToolKind.EXECUTE, command=command, in_sandbox=True), posture)
    assert decision.verdict is not Verdict.ALLOW, command
