import json
from pathlib import Path

import pytest
from benchmarks.gate import KEPT, find_regressions, limit_of, list_excesses
from benchmarks.syscalls import Counts, medians, missing_tracer, read_trace

TRACE = """\
10 execve("/usr/bin/halo", ["halo"...], 0x7ffc /* 9 vars */) = 0
10 openat(AT_FDCWD, "settings.toml", O_RDONLY) = -1 ENOENT (No such file or directory)
10 readlink("/proc/9/fd/3", "/home/one/.halocl"..., 4096) = 40
10 sendto(8, "POST /v1/chat/co"..., 900, 0, NULL, 0) = 900
10 recvfrom(8, "HTTP/1.1 200 OK\\r"..., 65536, 0, NULL, NULL) = 300
11 fsync(5 <unfinished ...>
10 recvfrom(8, "7f\\r\\ndata: {\\"id\\""..., 65536, 0, NULL, NULL) = 200
10 recvfrom(8, 0x55d0, 65536, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
10 read(9, "VALUE_0 = 0\\n"..., 4096) = 12
11 <... fsync resumed>) = 0
10 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD, ...} => {parent_tid=[12]}, 88) = 12
10 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 13
13 execve("/opt/bin/grep", ["grep"...], 0x7ffc /* 9 vars */) = -1 ENOENT (No such file or directory)
13 execve("/usr/bin/grep", ["grep"...], 0x7ffc /* 9 vars */) = 0
10 write(7, "{\\"type\\":\\"tool_"..., 150) = 150
10 sendto(8, "POST /v1/chat/co"..., 1900, 0, NULL, 0) = 1900
"""


def test_a_trace_is_split_at_the_requests_and_at_the_last_piece_of_each_answer(tmp_path: Path) -> None:
    output = tmp_path / "trace"
    output.write_text(TRACE)
    trace = read_trace(output)
    assert trace.start == Counts(syscalls=2, programs=1)
    assert [step.gap for step in trace.steps] == [
        Counts(syscalls=4, forks=1, programs=1, syncs=1, read=12, written=150)
    ]
    assert trace.steps[0].whole == Counts(syscalls=7, forks=1, programs=1, syncs=1, read=12, written=150)


def test_the_median_of_counts_is_one_of_them() -> None:
    assert medians([Counts(syscalls=9), Counts(syscalls=2), Counts(syscalls=4, forks=2)]) == Counts(syscalls=4)


def test_a_figure_exceeds_its_limit_beyond_a_twentieth_and_its_noise() -> None:
    kept = {"run_gap_syscalls": 100.0, "run_gap_forks": 0.0, "total_cpu": 4.0, "step_syscalls": 300.0}
    assert list_excesses(kept, {name: limit_of(name, value) for name, value in kept.items()}) == {}
    above = {"run_gap_syscalls": 106, "run_gap_forks": 1, "total_cpu": 5.1, "step_syscalls": 470}
    assert list(list_excesses(kept, above)) == list(kept)


def test_the_start_and_the_gaps_may_exceed_what_is_kept_by_no_more_than_a_twentieth() -> None:
    names = [name for name in json.loads(KEPT.read_text()) if "_gap_" in name or name == "start_syscalls"]
    assert [limit_of(name, 100) for name in names] == [pytest.approx(105)] * 10


def test_a_figure_that_could_not_be_measured_exceeds_nothing() -> None:
    assert list_excesses({"run_gap_syscalls": 100.0, "total_cpu": 4.0}, {"total_cpu": 4.1}) == {}


@pytest.mark.slow
@pytest.mark.process
def test_no_step_costs_more_than_what_is_kept_allows() -> None:
    if reason := missing_tracer():
        pytest.skip(reason)
    assert find_regressions(timed=False) == []
