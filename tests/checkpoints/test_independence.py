"""However short a run is, what it saved outlives the project and its git."""

import asyncio
import random
import shutil

import pytest
from tests.checkpoints.bench import Bench, contents, git
from tests.checkpoints.test_borrowing import committed
from tests.checkpoints.test_upkeep import is_borrowing

GAPS = (0.0, 0.01, 0.1, 0.5, 1.9)
"""Seconds between two steps: fewer than a store waits for before it is kept up."""


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_the_length_of_a_run_all_its_files_come_back_without_the_project(
    bench: Bench, seed: int
) -> None:
    chance = random.Random(seed)
    committed(bench, **{f"f{n}": f"{n}\n" for n in range(50)})
    before = {name: found for name, found in contents(bench.workspace).items() if not name.startswith(".git")}
    shadow = await bench.begun()
    for step in range(chance.randrange(4)):
        name = f"f{chance.randrange(50)}.txt"
        await shadow.barrier([name], ran=False)
        bench.write(name, f"step {step}\n")
        shadow.take("edit", [name])
        await asyncio.sleep(chance.choice(GAPS))
    await shadow.settle()
    await shadow.close()
    shutil.rmtree(bench.workspace)
    bench.workspace.mkdir()
    assert not is_borrowing(bench)
    again = bench.shadow("t2")
    restored = await again.restore("t1/1", overwrite=True)
    assert restored.lost == ()
    assert contents(bench.workspace) == before
    await again.close()


async def test_a_command_may_free_what_the_projects_git_has(bench: Bench) -> None:
    committed(bench, a="one")
    bench.write("b.txt", "two")
    git(bench.workspace, "add", "b.txt")
    git(bench.workspace, "commit", "-qm", "second")
    shadow = await bench.begun()
    await shadow.barrier()
    git(bench.workspace, "reset", "--hard", "-q", "HEAD~1")
    git(bench.workspace, "reflog", "expire", "--expire=now", "--all")
    git(bench.workspace, "gc", "-q", "--prune=now")
    shadow.take("git reset")
    await shadow.settle()
    await shadow.restore("1", overwrite=True)
    assert (bench.workspace / "b.txt").read_text() == "two"
    await shadow.close()


async def test_what_did_not_fit_into_the_end_of_a_run_is_copied_by_the_next_command(bench: Bench) -> None:
    committed(bench, a="one")
    await bench.begun()  # and is killed
    assert is_borrowing(bench)
    again = bench.shadow("t2")
    assert await again.list()
    assert not is_borrowing(bench)
    await again.close()
