import fcntl
import os
import signal
import subprocess
import sys
import threading

import pytest

from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import TaskBusy, TaskNotFound
from halocline.task.lock import read_owner
from halocline.task.log import Log, read_log

pytestmark = pytest.mark.process

HOLDER = """
import os, sys, time
from pathlib import Path
from halocline.task.log import Log

log = Log(Path(sys.argv[1]), "t")
if sys.argv[2] == "forks" and os.fork() == 0:
    print("ready", flush=True)
    time.sleep(0.2)
    os._exit(0)
if sys.argv[2] == "alone":
    print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Starts a process that holds the lock, alone or with a child that it was just starting."""
    started = []

    def start(how):
        process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), how], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_lock_that_a_running_process_holds_is_refused_and_its_holder_named(tmp_path, holder):
    pid = holder("alone").pid
    with pytest.raises(TaskBusy, match=f"pid {pid}"):
        Log(tmp_path, "t")
    assert read_owner(tmp_path).split()[0] == str(pid)


@pytest.mark.parametrize("collected", [True, False])
def test_a_killed_process_s_lock_is_waited_for_when_a_child_of_it_holds_it_a_moment_longer(tmp_path, holder, collected):
    process = holder("forks")
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | (0 if collected else os.WNOWAIT))
    log = Log(tmp_path, "t")
    assert read_owner(tmp_path).split()[0] == str(os.getpid())
    log.close()
    assert read_owner(tmp_path) is None


RACER = """
import os, sys
from pathlib import Path
from halocline.protocol.errors import TaskBusy, TaskNotFound
from halocline.protocol.events import ModelChanged
from halocline.task.log import Log
folder, rounds = Path(sys.argv[1]), 100
while rounds:
    try:
        log = Log(folder, "t")
    except TaskBusy:
        continue
    log.load()
    os.close(os.open(folder / "held", os.O_CREAT | os.O_EXCL))
    log.append(ModelChanged(model=str(os.getpid())))
    os.unlink(folder / "held")
    log.close()
    rounds -= 1
"""


def test_of_two_that_race_for_the_lock_a_hundred_times_only_one_ever_has_it(tmp_path):
    racers = [subprocess.Popen([sys.executable, "-c", RACER, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(2)]
    assert [racer.communicate()[1] for racer in racers] == [b"", b""]
    events = list(read_log(tmp_path / LOG_NAME))
    assert [event.seq for event in events] == list(range(1, 201))
    assert len({event.model for event in events}) == 2


def test_a_task_that_is_put_away_while_its_lock_is_waited_for_is_not_there_any_more(tmp_path):
    Log(tmp_path, "t").close()
    held = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)

    def put_away():
        (tmp_path / "lock").unlink()
        os.close(held)

    threading.Timer(0.1, put_away).start()
    with pytest.raises(TaskNotFound, match="deleted"):
        Log(tmp_path, "t")


def test_who_only_looks_is_never_taken_for_the_writer(tmp_path):
    Log(tmp_path, "t").close()
    looking = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, [looking]).start()
    Log(tmp_path, "t").close()
