"""A program that changes a repository while we ask its git gets nothing run: neither by luck nor by time."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halocline.git.commit import list_uncommitted
from halocline.git.diffs import git_changes

ROUNDS = 40
SWAPPING = """
import os, sys
config, hostile = sys.argv[1:3]
plain = open(config).read()
number = 0
while True:
    for text in (plain + hostile, plain):
        with open(f"{config}.new", "w") as file:
            file.write(text)
        os.replace(f"{config}.new", config)
"""


@pytest.fixture
def swapping(repository: Path, tmp_path: Path) -> Iterator[Path]:
    """A filter of all files comes and goes in the settings. Gives where its canary would be."""
    (repository / ".gitattributes").write_text("* filter=y\n")
    (repository / "a.txt").write_text("b\n")
    hostile = (
        f'[filter "y"]\n\tclean = "touch {tmp_path}/canary; cat"\n[core]\n\tfsmonitor = "touch {tmp_path}/canary"\n'
    )
    words = [sys.executable, "-c", SWAPPING, str(repository / ".git/config"), hostile]
    with subprocess.Popen(words) as process:
        yield tmp_path / "canary"
        process.kill()


def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never came about")


async def test_a_filter_that_comes_and_goes_never_runs(repository: Path, swapping: Path) -> None:
    for _ in range(ROUNDS):
        found = await git_changes(repository)
        assert ("a.txt" in found.diff, swapping.exists()) == (True, False)
        await list_uncommitted(repository)
    assert not swapping.exists()

    def plain_git_runs_it() -> bool:
        os.utime(repository / "a.txt")
        subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
        return swapping.exists()

    until(plain_git_runs_it)
