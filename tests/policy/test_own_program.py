import shlex

import pytest

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.own_program import LOOKING, STEERING, is_steering
from halocline.protocol.permission_rules import Verdict
from halocline.surfaces.cli.command_table import COMMANDS

STEERS = (
    "",
    "'do this'",
    "-p 'do this'",
    "-y 'do this'",
    "-c",
    "-r x --yolo",
    "trust add",
    "trust remove .",
    "plugins install x",
    "plugins trust x",
    "plugins enable x",
    "mcp add x -- y",
    "mcp remove x",
    "mcp enable x",
    "mcp disable x",
    "mcp install x",
    "mcp login x",
    "mcp test x",
    "mcp serve",
    "policy forget grant-1",
    "policy audit x",
    "policy simulate x",
    "rules new x",
    "rules off x",
    "rules on x",
    "memory edit",
    "memory show",
    "checkpoints restore x -y",
    "tasks delete x -y",
    "tasks show x",
    "worktrees merge x",
    "worktrees undo x",
    "worktrees discard x --force",
    "storage prune -y",
    "doctor --connect",
    "doctor --fix",
    "doctor --connect --base-url http://127.0.0.1:1",
    "models --refresh",
    *sorted(STEERING - {*LOOKING}),
)
LOOKS = (
    "--version",
    "-V",
    "--help",
    "trust add --help",
    "mcp -h",
    "doctor",
    "models gpt",
    "trust list",
    "hooks list",
    "mcp list",
    "policy explain ls",
    "policy rules",
    "policy test",
    "rules list",
    "rules why x",
    "plugins show x",
    "docs hooks",
    "worktrees diff x",
    *("docs", "hooks", "mcp", "plugins", "policy", "rules", "trust", "worktrees"),
)
SPELLINGS = (
    "halo {}",
    "/opt/tools/halo {}",
    "'ha'lo {}",
    "python -m halocline {}",
    "/usr/bin/python3.12 -Im halocline {}",
    "python3 -I -mhalocline {}",
    "python3 .venv/bin/halo {}",
    "uvx halocline {}",
    "uvx --from halocline halo {}",
    "uv run halo {}",
    "uv run python -m halocline {}",
    "pipx run halocline {}",
    "poetry run halo {}",
    "env -u HALOCLINE_COMMAND halo {}",
    "env -i PATH=/bin halo {}",
    "X=1 nohup halo {} &",
    "setsid -f halo {}",
    "timeout 5 halo {}",
    "sh -c {quoted}",
    "bash <<< {quoted}",
    "true && (cd / && halo {})",
    "echo $(halo {})",
    "find . -exec halo {} \\;",
    "ls | xargs halo {}",
    "tmux new-window {quoted}",
    "screen -dm halo {}",
    "systemd-run --user halo {}",
    "unshare -Urpf --mount-proc halo {}",
    "sudo -u me halo {}",
)
HARMLESS = (
    "echo halo trust add",
    "grep -rn 'halo trust add' docs",
    "git commit -m 'halo trust add asks now'",
    "cargo run --bin halo trust",
    "./halo build",
    "bin/halo --fast",
    "python -m pytest tests/halocline",
    "python -m halo_tests trust add",
    "pip install halocline",
    "uv pip install halocline",
)


def decided(tmp_path, command, mode):
    facts = LocalShellFacts({"PATH": "/usr/bin:/bin"})
    posture = PolicyContext(tmp_path, tmp_path / "home", Mode.ACT, mode, facts=facts)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture)


def test_every_command_of_ours_is_known_here():
    assert {*COMMANDS} == STEERING


@pytest.mark.parametrize(
    "spelling", [SPELLINGS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in SPELLINGS[1:])]
)
def test_what_steers_is_denied_however_it_is_spelt_and_in_every_mode(tmp_path, spelling):
    for words in STEERS:
        if spelling.startswith("/") and (not words or words[0] in "'-"):
            continue  # a program elsewhere with our name, and none of our commands
        command = spelling.format(words, quoted=shlex.quote(f"halo {words}"))
        for mode in ApprovalMode:
            found = decided(tmp_path, command, mode)
            assert (found.verdict, found.rule) == (Verdict.DENY, "own-state"), (command, mode)
            assert "in their own terminal" in found.reason


def test_what_only_looks_is_judged_as_any_program(tmp_path):
    for words in LOOKS:
        assert decided(tmp_path, f"halo {words}", ApprovalMode.YOLO).verdict is Verdict.ALLOW, words
        assert not is_steering(shlex.split(words))


def test_what_only_speaks_of_us_is_left_alone(tmp_path):
    for command in HARMLESS:
        assert decided(tmp_path, command, ApprovalMode.YOLO).verdict is Verdict.ALLOW, command
