"""A pytest plugin: the CPU seconds of each test file, child processes included (`pytest -p tests.cpu_time`).

A busy machine stretches wall time, not CPU time; the seconds that tests took stand beside it, as tests that wait keep a
worker busy too. What a process does counts for the test that runs at the time (on Linux; elsewhere for the test that
waits for its end). `CPU_TIMES` names a file for a line per test.
"""

import os
import resource
import time
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest


class CpuTimes:
    """Measures in the process that runs tests; adds up in the one that reports."""

    def __init__(self) -> None:
        self._before = _cpu_seconds()
        self._by_test: Counter[str] = Counter()
        self._wall: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._before = self._before, _cpu_seconds()
        # Less than before: a process has ended that nobody waited for.
        report.user_properties.append((f"cpu {report.when}", max(0.0, self._before - before)))
        return report

    def pytest_runtestloop(self) -> None:
        self._before = _cpu_seconds()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._by_test[report.nodeid] += dict(report.user_properties).get(f"cpu {report.when}", 0.0)
        self._wall[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files, wall, tests = Counter[str](), Counter[str](), Counter[str]()
        for nodeid, seconds in self._by_test.items():
            file = nodeid.partition("::")[0]
            files[file] += seconds
            wall[file] += self._wall[nodeid]
            tests[file] += 1
        terminalreporter.section("seconds of CPU and in all, and tests, of each test file")
        for file, seconds in files.most_common(30):
            terminalreporter.write_line(f"{seconds:8.1f} {wall[file]:8.1f} {tests[file]:5}  {file}")
        terminalreporter.write_line(f"{files.total():8.1f} {wall.total():8.1f} {tests.total():5}  in all")
        if path := os.environ.get("CPU_TIMES"):
            lines = (f"{cpu:.3f}\t{self._wall[nodeid]:.3f}\t{nodeid}\n" for nodeid, cpu in self._by_test.most_common())
            Path(path).write_text("".join(lines), encoding="utf-8")


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime + _of_running_children(os.getpid())


def _of_running_children(pid: int) -> float:
    """Return the CPU seconds of all processes below this one, with those that they have waited for."""
    seconds = 0.0
    for found in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has ended since
            for child in map(int, found.read_text().split()):
                # After the name, which may have spaces: the state is field 3, what it took are fields 14 to 17.
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + _of_running_children(child)
    return seconds


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuTimes(), "cpu-times")
