import os
import signal
import subprocess
import sys

import pytest

from halocline.protocol.errors import TaskBusy
from halocline.task.lock import owner
from halocline.task.log import Log

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
    assert owner(tmp_path).split()[0] == str(pid)


@pytest.mark.parametrize("collected", [True, False])
def test_a_killed_process_s_lock_is_waited_for_when_a_child_of_it_holds_it_a_moment_longer(tmp_path, holder, collected):
    process = holder("forks")
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | (0 if collected else os.WNOWAIT))
    log = Log(tmp_path, "t")
    assert owner(tmp_path).split()[0] == str(os.getpid())
    log.close()
    assert owner(tmp_path) is None
