"""What a sandboxed command leaves behind that other programs would run, and what secrets it can read."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner
from tests.policy.test_sensitive_names import LATER

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.sandbox.scan import Scan
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Verdict

RUN_LATER = [
    "AGENTS.md",
    ".envrc",
    "lefthook.yml",
    ".cargo/config.toml",
    "x.code-workspace",
    ".config/nvim/init.lua",
    "gradle/wrapper/gradle-wrapper.properties",
    "pkg/.vscode/tasks.json",
    "pkg/.pre-commit-config.yaml",
    "pkg/.gitattributes",
    ".github/workflows/ci.yml",
    "a/b/c/d/e/f/AGENTS.md",
    "a/b/c/d/e/f/.vscode/tasks.json",
    "a/b/c/d/e/f/.github/workflows/ci.yml",
]
"""In the root and below; `test_the_judge_leaves…` tries every name of the policy's list."""
STAY = ["src/main.py", "env/lib/python3/site-packages/x.pth", "node_modules/.bin/tool", ".gradle/cache", "Makefile"]
SECRETS = [".env", ".ENV", "prod.env", ".env-prod", "secrets.yml", ".aws/credentials", ".ssh/id_work", "sub/.netrc"]
SHOWN = ["server.pem", ".npmrc", ".env.example", "credentials/__init__.py"]


@pytest.fixture
async def writing(make, wishes: SandboxRequest) -> Runner:
    """Runs commands in a full sandbox that may write to a real repository."""
    subprocess.run(["git", "init", "-q", str(wishes.workspace)], check=True)
    runner = make(Sandbox(replace(wishes, git_writes=True)))
    found = await runner.shell.sandbox()
    if found.standing is not SandboxStanding.FULL:
        pytest.skip(f"no full sandbox on this machine: {'; '.join(found.lacks)}")
    return runner


@pytest.mark.parametrize("name", RUN_LATER)
async def test_what_other_programs_run_is_put_aside_wherever_it_is(run: Runner, name: str) -> None:
    path = Path(run.folder) / name
    await run(f"mkdir -p $(dirname {name}); echo planted > {name}")
    assert not path.exists()


@pytest.mark.parametrize("name", STAY)
async def test_what_builds_make_stays(run: Runner, name: str) -> None:
    await run(f"mkdir -p $(dirname {name}); echo made > {name}")
    assert (Path(run.folder) / name).read_text() == "made\n"


@pytest.mark.parametrize("name", RUN_LATER)
async def test_what_other_programs_run_stays_as_it_is(run: Runner, name: str) -> None:
    path = Path(run.folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n")
    top = name.split("/")[0]
    await run(f"echo planted > {name}; rm -f {name}; mv {top} other; mkdir -p $(dirname {name}); echo planted > {name}")
    assert not path.exists() or path.read_text() == "mine\n"


async def test_a_folder_whose_time_is_set_back_is_looked_at_again(run: Runner) -> None:
    await run("ls")
    await run("touch -r . /tmp/then; echo planted > AGENTS.md; touch -r /tmp/then .")
    assert not (Path(run.folder) / "AGENTS.md").exists()


async def test_a_link_is_not_replaced_by_a_file_of_the_same_number(run: Runner) -> None:
    folder = Path(run.folder)
    (folder / "AGENTS.md").write_text("mine\n")
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    number = (folder / "CLAUDE.md").lstat().st_ino
    makes = f"for n in $(seq 400); do echo planted > x$n; [ $(stat -c %i x$n) = {number} ] && mv x$n CLAUDE.md; done"
    await run(f"rm -f CLAUDE.md; {makes}; [ -e CLAUDE.md ] || mv x1 CLAUDE.md; rm -f x*")
    assert not (folder / "CLAUDE.md").exists() or (folder / "CLAUDE.md").read_text() == "mine\n"


@pytest.mark.parametrize(
    "plants",
    [
        "cp -r .git .git/m3; git config -f .git/m3/config core.fsmonitor ./evil.sh; echo m3 > .git/commondir",
        "git config -f .git/config.worktree core.fsmonitor ./evil.sh",
        "mkdir -p .git/modules/m; echo x > .git/modules/m/config",
        "mkdir -p .git/worktrees/w; echo x > .git/worktrees/w/config.worktree",
        "git init -q nest; git -C nest config core.fsmonitor ./evil.sh",
        "git init -q nest; printf '#!/bin/sh\\n' > nest/.git/hooks/pre-commit",
        "git init -q a/b/c/d/e/f; printf '#!/bin/sh\\n' > a/b/c/d/e/f/.git/hooks/pre-commit",
        "git init -q nest; mkdir -p nest/.git/info; echo '* filter=x' > nest/.git/info/attributes",
        "mkdir nest; ln -s ../.git nest/.git",
    ],
)
async def test_no_repository_is_left_that_runs_a_program(writing: Runner, plants: str) -> None:
    folder = Path(writing.folder)
    before = sorted((folder / ".git").iterdir())
    await writing(plants)
    left = [path for path in sorted((folder / ".git").iterdir()) if path not in before and path.name != "m3"]
    assert (left, [*folder.glob("**/.git/hooks/pre-commit")], (folder / "nest" / ".git").exists()) == ([], [], False)


async def test_a_repository_as_git_makes_it_stays_and_can_be_used(writing: Runner) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"
    await writing(f"git init -q nest; (cd nest; {commit}; git config user.name a; {commit})")
    assert (Path(writing.folder) / "nest" / ".git" / "HEAD").exists()
    assert (await writing("git -C nest log --oneline | wc -l")).output.strip() == "2"


@pytest.mark.parametrize("name", SECRETS)
async def test_what_the_policy_calls_secret_cannot_be_read(run: Runner, name: str) -> None:
    path = Path(run.folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("KEY=s3cret\n")
    assert "s3cret" not in (await run(f"cat {name}")).output


@pytest.mark.parametrize("name", SHOWN)
async def test_what_tests_and_builds_need_can_be_read(run: Runner, name: str) -> None:
    path = Path(run.folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("needed\n")
    assert (await run(f"cat {name}")).output == "needed\n"


def test_the_judge_leaves_to_a_full_sandbox_only_what_the_scan_protects(tmp_path: Path) -> None:
    root, places = tmp_path / "w", {}
    for number, name in enumerate(LATER):
        places[name] = root / f"d{number}" / name
        places[name].parent.mkdir(parents=True)
        places[name].touch()
    found = set(Scan().find_protected([root]))
    full = SandboxChecked(standing=SandboxStanding.FULL)
    facts = LocalShellFacts({}, lambda paths, roots: ())
    context = PolicyContext(root, tmp_path / "home", Mode.ACT, ApprovalMode.AUTO, facts=facts, sandbox=full)
    left = []
    for name, path in places.items():
        text = f"cp {root}/README.md '{path}'"
        call = Summary(text, ToolKind.EXECUTE, command=text, tool="execute_command", in_sandbox=True)
        if decide_call(call, context).verdict is Verdict.ALLOW:
            left.append(name)
            assert not found.isdisjoint({path, *path.parents}), name
    assert len(left) > len(LATER) // 2
