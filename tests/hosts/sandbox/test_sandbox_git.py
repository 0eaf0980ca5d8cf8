"""A repository that a sandboxed job makes while it runs: our git, which is outside, runs nothing of it."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner

from halocline.git.commit import list_uncommitted
from halocline.git.diffs import changed_files, git_changes, git_commit, git_diff, git_standing
from halocline.git.doubts import Doubts

MADE = """
echo up; while [ ! -e go ]; do sleep 0.02; done
mkdir -p {folder}; cd {folder}; git init -q
printf '* filter=y diff=y\\n' > .gitattributes; echo one > a.txt
git -c user.name=a -c user.email=a@example.org add -A
git -c user.name=a -c user.email=a@example.org commit -q -m one
printf '[filter "y"]\\n\\tclean = "touch {canary}; cat"\\n' >> .git/config
printf '[diff "y"]\\n\\ttextconv = "touch {canary}; cat"\\n' >> .git/config
printf '[core]\\n\\tfsmonitor = "touch {canary}"\\n' >> .git/config
printf '#!/bin/sh\\ntouch {canary}\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change
echo two > a.txt; touch ready; sleep 1000
"""


@pytest.fixture
def canary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder) / "canary"


async def until_there(path: Path) -> None:
    async with asyncio.timeout(20):
        while not path.exists():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("name", ["sub", "a/b/c/d/e/f"])
async def test_our_git_runs_nothing_that_a_job_made(run: Runner, canary: Path, name: str) -> None:
    folder = Path(run.folder) / name
    started = await run(MADE.format(folder=name, canary=canary), background=True)
    assert started.output == "up\n"
    # What it made before would have been put aside by now.
    (Path(run.folder) / "go").touch()
    await until_there(folder / "ready")
    assert "two" in (await git_changes(folder)).diff
    assert "two" in await git_diff(folder, "HEAD")
    assert "one" in (await git_commit(folder, "HEAD")).diff
    assert await git_standing(folder) != ("", 0)
    assert [file.path for file in (await list_uncommitted(folder)).files] == ["a.txt", "ready"]
    assert await changed_files(folder, 5.0) == [folder / "a.txt", folder / "ready"]
    assert Doubts(os.environ).of(str(folder))
    assert not canary.exists()
    subprocess.run(["git", "status"], cwd=folder, capture_output=True, check=False)
    assert canary.exists()
