"""A pytest plugin: the CPU seconds of each test file, child processes included (`pytest -p tests.cpu_time`).

A busy machine stretches wall time, not CPU time. A process counts for the test that waits for its end, and what tests
share counts for the first (set-up) and the last (tear-down); `halo` from the fork server counts for none, only in what
`time` says of the whole run. `CPU_TIMES` names a file for a line per test.
"""

import os
import resource
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest


class CpuTimes:
    """Measures in the process that runs tests; adds up in the one that reports."""

    def __init__(self) -> None:
        self._before = _cpu_seconds()
        self._by_test: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._before = self._before, _cpu_seconds()
        report.user_properties.append((f"cpu {report.when}", self._before - before))
        return report

    def pytest_runtestloop(self) -> None:
        self._before = _cpu_seconds()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._by_test[report.nodeid] += dict(report.user_properties).get(f"cpu {report.when}", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files, tests = Counter[str](), Counter[str]()
        for nodeid, seconds in self._by_test.items():
            files[nodeid.partition("::")[0]] += seconds
            tests[nodeid.partition("::")[0]] += 1
        terminalreporter.section("CPU seconds of test files")
        for file, seconds in files.most_common(30):
            terminalreporter.write_line(f"{seconds:8.1f}  {tests[file]:5}  {file}")
        terminalreporter.write_line(f"{files.total():8.1f}  {tests.total():5}  in all")
        if path := os.environ.get("CPU_TIMES"):
            lines = (f"{seconds:.3f}\t{nodeid}\n" for nodeid, seconds in self._by_test.most_common())
            Path(path).write_text("".join(lines), encoding="utf-8")


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuTimes(), "cpu-times")
