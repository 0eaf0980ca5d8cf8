"""A restore takes back what its task did, and nothing of anybody else's."""

import os
import random
import tempfile
from pathlib import Path

import pytest
from tests.journeys.crowd import Crowd

SAMPLE = 6
RUNS = int(os.environ.get("CROWD_RUNS", "0"))
SEED = os.environ.get("CROWD_SEED", "halocline")


@pytest.mark.slow
async def test_no_file_that_a_task_did_not_make_is_changed_by_its_restore(tmp_path: Path) -> None:
    chance, undone, found = random.Random(SEED), 0, []
    for _ in range(RUNS or SAMPLE):
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            crowd = Crowd(Path(folder), chance.randrange(1 << 32))
            await crowd.play()
        undone += crowd.undone
        found += crowd.faults
    assert found == []
    assert undone > (RUNS or SAMPLE)
