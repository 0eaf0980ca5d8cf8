"""Machines that lack what others have: no home folder, no git."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo

pytestmark = pytest.mark.process
NOBODY = ("bwrap", "--dev-bind", "/", "/", "--unsetenv", "HOME", "--unshare-user", "--uid", "4242", "--gid", "4242")
"""Runs a program as a user whom the system does not know."""
COMMANDS = (
    "run hi",
    "doctor",
    "models",
    "tasks list",
    "mcp list",
    "config list",
    "rules list",
    "policy explain ls",
    "import",
    "web",
    "acp",
)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_a_user_without_any_home_is_told_so_by_every_command(halo: Halo) -> None:
    async def run(command: str) -> tuple[int | None, str]:
        words = (*NOBODY, sys.executable, "-m", "halocline", *command.split())
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=halo.env, cwd=halo.folder
        )
        _, said = await process.communicate()
        return process.returncode, said.decode().splitlines()[0]

    told = "halo: There is no home folder: HOME is not set, and the system knows none for this user."
    assert [(name, *await run(name)) for name in COMMANDS] == [(name, 2, told) for name in COMMANDS]


async def test_without_git_the_doctor_and_a_task_say_the_same_of_checkpoints(halo: Halo, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    halo.env["PATH"] = str(programs)
    ran = await halo.run("run", "-m", halo.script({"text": "Hello."}), "hi")
    checked = await halo.run("doctor")
    assert "Checkpoints are off: git was not found. Install git." in ran.err + ran.out
    (line,) = [line for line in checked.out.splitlines() if line.split()[1:2] == ["checkpoints"]]
    assert line.split(maxsplit=2)[2] == "off: git was not found"
