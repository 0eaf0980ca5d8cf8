"""A task is killed anywhere and nobody goes on with it: the start of another one leaves nothing of it half written."""

import asyncio
import random
import time
from pathlib import Path

import pytest
from tests.crashes.faults import Fault, FaultTime
from tests.crashes.trial import KILLED, Trial

from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.repository.stores import half_restored
from halocline.checkpoints.saved import Limits
from halocline.hosts.files.local import LocalFiles
from halocline.runtime.litter import OLD, sweep_home
from halocline.store.paths import Home

SAMPLE, ALL = 12, 200
HALF_WRITTEN = ("*.tmp", "*.new", "tmp_*", "merge-*", ".halo-*")
"""Any file that is named so is half written, wherever it is."""


@pytest.fixture(scope="module")
def points(stable, tmp_path_factory):
    return Trial(stable, tmp_path_factory.mktemp("whole")).ride().points


def half_written(folder: Path) -> list[Path]:
    return [path for pattern in HALF_WRITTEN for path in folder.rglob(pattern)]


def kill_and_sweep(trial: Trial, seed: int, points: int, share: float) -> list[Path]:
    """Gives what the process left."""
    moment = random.Random(seed).choice(list(FaultTime))
    if trial.ride(Fault(at=1 + int(share * points), moment=moment)).status != KILLED:
        return []
    left, home = half_written(trial.folder), Home.of({"HALOCLINE_HOME": str(trial.folder / "home")})
    asyncio.run(LocalFiles(home.edits).mend())  # as each start of a task does, and what comes next
    if half_restored(home.checkpoints):
        with Repository(home.checkpoints, trial.workspace, "the next", "git", Limits()).opened():
            pass
    sweep_home(home, time.time() + OLD + 60)
    assert half_written(trial.folder) == []
    return left


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SAMPLE))
def test_nothing_half_written_is_left_when_nobody_goes_on(stable, points, tmp_path: Path, seed):
    kill_and_sweep(Trial(stable, tmp_path), seed, points, seed / SAMPLE)


@pytest.mark.long
def test_nothing_half_written_is_left_wherever_it_was_killed(stable, points, tmp_path: Path):
    left = []
    for seed in range(ALL):
        folder = tmp_path / str(seed)
        folder.mkdir()
        left += kill_and_sweep(Trial(stable, folder), seed, points, seed / ALL)
    assert left  # or the kills came nowhere where it matters
