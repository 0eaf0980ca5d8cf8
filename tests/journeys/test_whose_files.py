"""A restore takes back what its task did, and nothing of anybody else's."""

import os
import random
import tempfile
from pathlib import Path

import pytest
from tests.journeys.crowd import TASKS, Crowd

SAMPLE = 6
RUNS = int(os.environ.get("CROWD_RUNS", "0"))
SEED = os.environ.get("CROWD_SEED", "halocline")


async def play(tmp_path: Path, tasks: int) -> Crowd:
    """Play all runs. Gives one with the sums of all."""
    chance, total = random.Random(SEED), Crowd(tmp_path, 0)
    for _ in range(RUNS or SAMPLE):
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            crowd = Crowd(Path(folder), chance.randrange(1 << 32), tasks)
            await crowd.play()
        total.undone += crowd.undone
        total.excused += crowd.excused
        total.faults += crowd.faults
    return total


@pytest.mark.slow
async def test_no_file_that_a_task_did_not_make_is_changed_by_its_restore(tmp_path: Path) -> None:
    crowd = await play(tmp_path, TASKS)
    assert (crowd.faults, crowd.excused) == ([], 0)
    assert crowd.undone > (RUNS or SAMPLE)


@pytest.mark.slow
async def test_alone_with_a_person_a_task_changes_no_file_of_theirs_that_its_plan_did_not_mark(tmp_path: Path) -> None:
    crowd = await play(tmp_path, 1)
    assert crowd.faults == []
    assert crowd.undone > 0
