import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.presets import AutoApprove, rules_of
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import RuleBook, Verdict

FOLDER = Path(__file__).parent / "auto"
ASKS = tomllib.loads((FOLDER / "asks.toml").read_text(encoding="utf-8"))
WORKS = tomllib.loads((FOLDER / "works.toml").read_text(encoding="utf-8"))
FILES = (
    *("a.txt", "b.txt", "a.json", "src/main.py", "src/index.js", "mypackage/__main__.py", "build.sh", ".gitattributes"),
    *("node_modules/.bin/tsc", "node_modules/.bin/eslint", ".venv/bin/activate", "big.txt", ".git/hooks/x"),
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("auto") / "w"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "package.json").write_text('{"scripts": {"build": "x", "test": "x", "lint": "x", "deploy": "x"}}')
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


TRUST = RuleBook(rules=rules_of(AutoApprove(project_code=True)))
OFF, NO_RULES = SandboxChecked(), RuleBook()
COVERED = ("unknown-command", "writes")
FULL = SandboxChecked(standing=SandboxStanding.FULL)


def judged(command, workspace, box=OFF, book=NO_RULES):
    facts = LocalShellFacts({}, lambda paths, roots: ())
    home = workspace.parent / "home"
    posture = PolicyContext(workspace, home, Mode.ACT, ApprovalMode.AUTO, facts=facts, sandbox=box, book=book)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command, in_sandbox=True), posture)


def verdict(command, workspace, **more):
    return judged(command, workspace, **more).verdict


def list_asking(kind, workspace, **more):
    return [one for one in WORKS[kind]["commands"] if verdict(one, workspace, **more) is not Verdict.ALLOW]


@pytest.mark.parametrize("kind", ASKS)
def test_auto_mode_asks_about_every_form(kind, workspace):
    assert [one for one in ASKS[kind]["commands"] if verdict(one, workspace) is Verdict.ALLOW] == []


@pytest.mark.parametrize("kind", WORKS)
def test_auto_mode_lets_work_run_in_a_full_sandbox(kind, workspace):
    assert list_asking(kind, workspace, box=FULL) == []


@pytest.mark.parametrize("kind", WORKS)
def test_without_a_sandbox_auto_mode_lets_only_reading_and_edits_run(kind, workspace):
    only_trusted = WORKS[kind]["commands"] if kind not in ("reading", "edits") else []
    assert list_asking(kind, workspace) == only_trusted


@pytest.mark.parametrize("kind", WORKS)
def test_trust_in_the_code_of_the_project_is_enough_for_work_that_needs_no_network(kind, workspace):
    asked = list_asking(kind, workspace, book=TRUST)
    assert asked == (WORKS[kind]["commands"] if kind == "network" else [])


@pytest.mark.parametrize("kind", ASKS)
def test_trust_in_the_code_of_the_project_covers_only_what_is_asked_about_as_unknown(kind, workspace):
    rules = {one: judged(one, workspace).rule for one in ASKS[kind]["commands"]}
    others = [one for one, rule in rules.items() if rule not in COVERED]
    assert [one for one in others if verdict(one, workspace, book=TRUST) is Verdict.ALLOW] == []


def test_the_corpus_is_large_enough():
    assert sum(len(kind["commands"]) for kind in ASKS.values()) >= 500
    assert sum(len(kind["commands"]) for kind in WORKS.values()) >= 250


WRAPPERS = (
    *(
        "env {}",
        "env A=1 {}",
        "env -i {}",
        "env -u X {}",
        "env -S '{}'",
        "env --split-string='{}'",
        "command {}",
        "nohup {}",
    ),
    *("setsid {}", "timeout 5 {}", "timeout -k 1 5 {}", "nice -n 5 {}", "ionice -c 3 {}", "stdbuf -oL {}", "time {}"),
    *("busybox {}", "toybox {}", "strace -f -o t {}", "ltrace {}", "valgrind {}", "unbuffer {}", "chronic {}"),
    *(
        "xvfb-run -a {}",
        "flock f {}",
        "flock f -c '{}'",
        "script -qc '{}' t",
        "watch {}",
        "watch -n 1 '{}'",
        "taskset 1 {}",
    ),
    *("uv run {}", "poetry run {}", "pipenv run {}", "bundle exec {}", "pnpm exec {}", "conda run -n x {}", "sudo {}"),
    *(
        "doas {}",
        "runuser -u x {}",
        "su -c '{}'",
        "sg x -c '{}'",
        "setpriv --reuid 0 {}",
        "unshare -r {}",
        "chroot . {}",
    ),
    *("nsenter -t 1 {}", "systemd-run {}", "sh -c '{}'", "bash -ec '{}'", "bash -o pipefail -c '{}'", "eval '{}'"),
    *("trap '{}' EXIT", "ls | xargs {}", "xargs -I% {} %", "ls | entr {}", "parallel {} ::: x", "find . -exec {} \\;"),
    *("find . -execdir {} +", "find . -ok {} \\;", "fd -x {}", "fd -X {}", "fd --exec-batch {}", "git bisect run {}"),
    *("git submodule foreach '{}'", "git rebase -x '{}' HEAD", "git -c alias.x='!{}' x", "ssh h {}", "at now <<< '{}'"),
    *(
        "echo '{}' | sh",
        "bash <<< '{}'",
        "bash <<E\n{}\nE",
        "$({})",
        "ls $({})",
        "({})",
        "{{ {}; }}",
        "f() {{ {}; }}; f",
    ),
    *(
        "if true; then {}; fi",
        "for x in 1; do {}; done",
        "ls && {}",
        "ls || {}",
        "ls; {}",
        "ls & {}",
        "! {}",
        "cross-env A=1 {}",
    ),
    *(
        "nyc {}",
        "unknown-program {}",
        "./unknown.sh {}",
        "make SHELL='{}'",
        "X=1 {}",
        "PAGER='{}' git log",
        "coproc {}",
    ),
)
DEEDS = ("rm a.txt", "curl x", "sudo ls", "git push", "crontab x", "tar xf x.tar", "pip install x", "python -c x")


@for_each("wrapper", WRAPPERS)
def test_no_wrapper_hides_what_it_runs(wrapper, workspace):
    commands = [wrapper.format(deed) for deed in DEEDS]
    assert [one for one in commands if verdict(one, workspace) is Verdict.ALLOW] == []


@pytest.mark.parametrize(
    "wrapper",
    ["{}", "timeout 60 {}", "env A=1 {}", "nice {}", "time {}", "uv run {}", "sh -c '{}'", "cd src && {}", "({})"],
)
def test_a_harmless_wrapper_adds_no_question(wrapper, workspace):
    commands = [wrapper.format(work) for work in ("pytest -q", "make", "mkdir x", "ruff check .", "npm test")]
    assert [one for one in commands if verdict(one, workspace, box=FULL) is not Verdict.ALLOW] == []
    assert [one for one in commands if verdict(one, workspace, book=TRUST) is not Verdict.ALLOW] == []
