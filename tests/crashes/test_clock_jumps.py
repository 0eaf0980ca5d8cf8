import asyncio
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests.crashes.judge import assert_came_to_its_end, forks_of, logs_of
from tests.crashes.rider import SETTINGS, Storied

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol import events as ev
from halocline.protocol.queries.tasks import TaskQuery
from halocline.services.replay.replay import run_replay
from halocline.store.paths import Home
from halocline.store.tasks.index import TaskIndex
from halocline.store.tasks.recording import Recording
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.kinds import CallRow, TurnEndRow
from halocline.task.log import read_log

pytestmark = pytest.mark.slow
HOUR, YEAR = 3600, 365 * 86400


@pytest.fixture(scope="module", params=[-HOUR, YEAR], ids=["back an hour", "forward a year"])
def jump(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def ridden(jump: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a story during which the clock was set."""
    folder = tmp_path_factory.mktemp("clock")
    subprocess.run([sys.executable, "-m", "tests.crashes.clocks", str(folder), str(jump)], check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def events(ridden: Path) -> list[ev.DurableEvent]:
    (log,) = logs_of(ridden)
    return list(read_log(log))


def test_the_log_tells_the_time_that_the_clock_told(events, jump: int):
    steps = [after.at - before.at for before, after in pairwise(events)]
    assert min(steps) < -HOUR + 60 if jump < 0 else max(steps) > YEAR - 60


def test_a_task_comes_to_its_end_and_no_limit_of_time_is_reached(events):
    assert_came_to_its_end(events)
    assert not any(isinstance(event, ev.LimitExtended) for event in events)


def test_the_replay_is_the_same(ridden: Path, events):
    home = Home.of({"HALOCLINE_HOME": str(ridden / "home")})
    done = asyncio.run(run_replay(Recording(tuple(events)), Storied(home, SETTINGS, {}), strict=True))
    assert done.differences == ()


def test_the_checkpoints_stand_in_the_order_in_which_they_were_made(ridden: Path, events):
    made = [event.checkpoint for event in events if isinstance(event, ev.CheckpointTaken)]
    home = Home.of({"HALOCLINE_HOME": str(ridden / "home")})
    kept = asyncio.run(ShadowGit(home.checkpoints, ridden / "project", "").list(events[0].task))
    assert [info.sha for info in kept if info.sha in made] == made
    assert len(made) > 2


def test_nothing_took_less_than_no_time(events):
    took = [row.seconds for row in rows_of(events) if isinstance(row, TurnEndRow | CallRow)]
    assert min(seconds for seconds in took if seconds is not None) >= 0


def test_the_task_is_listed_and_found(ridden: Path):
    home = Home.of({"HALOCLINE_HOME": str(ridden / "home")})
    index = TaskIndex(home.history, home.tasks)
    found = {info.task for info in index.find(TaskQuery(words="patch"))}
    assert found == {log.parent.name for log in (*logs_of(ridden), *forks_of(ridden))}
    assert {info.task for info in index.find(TaskQuery())} == found
