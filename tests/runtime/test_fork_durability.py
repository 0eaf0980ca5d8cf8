import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crashes.faults import Fault, Points
from tests.crashes.references import find_lost

from halocline.protocol.events import TaskStarted
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.runtime.history.forks import AGAIN, THERE, Fork, fork_of
from halocline.store.paths import Home
from halocline.task.log import LogUnwritable, read_log

STARTED = TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "", "1", task="source", seq=1)

FORKS = """
import sys
from pathlib import Path
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.runtime.history.forks import Fork, fork_of
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from tests.crashes.disk import Disk

root, place = map(Path, sys.argv[1:])
disk = Disk(root)
disk.install()
home = Home.of({"HALOCLINE_HOME": str(root)})
after = DiskBlobs(home.blobs).put(b"as a running turn has just written it")
started = ev.TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "", "1", task="source", seq=1)
past = (started, ev.FileChanged(path="a", before="", after=after, cause="c1", seq=2))
fork_of(past, Fork("fork", "source"), home)
disk.cut(place)
"""


@pytest.mark.process
def test_what_a_fork_refers_to_survives_a_loss_of_power_though_its_source_has_not_synced_it(tmp_path: Path):
    (tmp_path / "home").mkdir()
    left = tmp_path / "left"
    subprocess.run([sys.executable, "-c", FORKS, str(tmp_path / "home"), str(left)], check=True)
    events = list(read_log(left / "tasks" / "fork" / "events.jsonl"))
    assert len(events) == 2
    assert find_lost(left, events) == []


REFUSED = """
import resource
import sys
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.runtime.history.forks import Fork, fork_of
from halocline.store.paths import Home

home = Home.of({"HALOCLINE_HOME": sys.argv[1]})
home.task("fork")  # makes the folder of all tasks
started = ev.TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "", "1", task="source", seq=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
try:
    fork_of((started,), Fork("fork", "source"), home)
except HaloclineError as error:
    sys.exit(f"{error.text}\\n{error.hint}")
"""


@pytest.mark.process
def test_a_fork_that_the_disk_refuses_says_so_and_what_to_do_and_leaves_nothing(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", REFUSED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert f"Cannot write the task's log {tmp_path / 'tasks' / 'fork' / 'events.jsonl'}" in done.stderr
    assert "fork it again" in done.stderr
    assert list((tmp_path / "tasks").iterdir()) == []


def fork_refused(home: Home, fault: Fault, seen: Callable[[int, str], None] = lambda count, name: None) -> str:
    """Fork in a child whose disk refuses something: what it says, or how many points it had."""
    said = home.root / "said"
    if not (child := os.fork()):
        points = Points(fault, seen)
        points.install()
        try:
            fork_of((STARTED,), Fork("fork", "source"), home)
            words = str(points.count)
        except LogUnwritable as error:
            words = error.hint
        said.write_text(words)
        os._exit(0)
    os.waitpid(child, 0)
    return said.read_text()


def home_in(folder: Path) -> Home:
    home = Home.of({"HALOCLINE_HOME": str(folder)})
    home.task("source")  # makes the folder of all tasks
    return home


@pytest.mark.process
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_second_try_works_whatever_the_disk_refused_of_the_first(tmp_path: Path, error: str):
    points = int(fork_refused(home_in(tmp_path / "whole"), Fault(error=error)))
    assert points >= 5
    for at in range(1, points + 1):
        home = home_in(tmp_path / str(at))
        assert fork_refused(home, Fault(at, error=error)) == AGAIN
        fork_of((STARTED,), Fork("fork", "source"), home)
        assert len(list(read_log(home.log("fork")))) == 1


@pytest.mark.process
def test_a_fork_that_is_in_use_when_its_last_sync_fails_stays_and_is_named(tmp_path: Path):
    points, home = int(fork_refused(home_in(tmp_path / "whole"), Fault(error="EIO"))), home_in(tmp_path / "used")

    def use_it(count: int, name: str) -> None:
        if count == points:
            os.symlink("a file of the one who uses it", home.task("fork") / "lock")

    assert fork_refused(home, Fault(points, error="EIO"), use_it) == THERE.format("fork")
    assert len(list(read_log(home.log("fork")))) == 1
