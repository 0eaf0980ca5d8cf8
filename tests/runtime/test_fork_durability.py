import subprocess
import sys
from pathlib import Path

import pytest
from tests.crashes.references import find_lost

from halocline.task.log import read_log

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
