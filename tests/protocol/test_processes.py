import os
import subprocess
import sys

import pytest

from halocline.protocol.processes import UNKNOWN, Owner, find_owner, is_running, read_start


def test_no_process_has_the_number_of_one_that_ended_or_one_that_is_too_large():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert {find_owner(pid) for pid in (ended.pid, 1 << 70)} == {Owner.NONE}
    assert find_owner(os.getpid()) is Owner.MINE


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux tells when a process started")
def test_another_process_with_the_same_number_is_not_taken_for_the_one_that_was():
    mine = read_start(os.getpid())
    assert mine != UNKNOWN
    assert [is_running(os.getpid(), started) for started in (mine, "", UNKNOWN, "1")] == [True, True, True, False]
