import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.shell.shell import LocalShell
from halocline.protocol.kinds import SandboxStanding

Make = Callable[..., Runner]


@pytest.fixture
def wishes(tmp_path: Path) -> SandboxRequest:
    """Places of a sandbox: a home with keys, our own folder with a log, a repository as the workspace."""
    home, state, workspace = tmp_path / "home", tmp_path / "state", tmp_path / "workspace"
    for folder in (home / ".ssh", state / "tasks" / "t", workspace / ".git" / "hooks", workspace / ".vscode"):
        folder.mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("s3cret")
    (home / ".netrc").write_text("s3cret")
    (home / "notes.txt").write_text("plain")
    (state / "log.jsonl").write_text("s3cret")
    (workspace / ".git" / "config").write_text("[core]\n")
    (workspace / ".env").write_text("KEY=s3cret\n")
    (workspace / "a.txt").write_text("a\n")
    return SandboxRequest(workspace, home, state, state / "tasks" / "t")


@pytest.fixture
async def make(wishes: SandboxRequest, tmp_path: Path) -> AsyncIterator[Make]:
    """Makes a runner of sandboxed commands, with other wishes if any are given."""
    shells: list[LocalShell] = []

    def made(sandbox: Sandbox | None = None) -> Runner:
        shell = LocalShell(tmp_path / "outputs", sandbox=sandbox or Sandbox(wishes))
        shells.append(shell)
        return Runner(shell, wishes.workspace)

    yield made
    await asyncio.gather(*(shell.close() for shell in shells))


@pytest.fixture
async def run(make: Make) -> Runner:
    """Runs commands in a sandbox that holds in full."""
    runner = make()
    found = await runner.shell.sandbox()
    if found.standing is not SandboxStanding.FULL:
        pytest.skip(f"no full sandbox on this machine: {'; '.join(found.lacks)}")
    return runner
