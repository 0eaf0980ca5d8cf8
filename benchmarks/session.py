"""One contestant plays one scenario against a model server of its own, and is measured."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from benchmarks.process import Outcome, left_running, measure
from benchmarks.scenarios import SCENARIOS, STAMPS, Scenario
from benchmarks.server import Exchange, Report
from benchmarks.stamps import Stamps
from benchmarks.syscalls import tracing
from benchmarks.workspace import copy_fresh, make_template, missing_work, total_bytes

ROOT = Path(__file__).resolve().parent.parent
PROMPT = "Do what the plan says, one step after another, and say when it is done."
HALO = Path(sys.executable).parent / "halo"
_LOOK_AGAIN = 0.02


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program that is measured: `command` is for a port and a workspace, `bare` is its shortest run."""

    name: str
    command: Callable[[int, Path], list[str]]
    bare: list[str]


def floor_command(port: int, workspace: Path) -> list[str]:
    return [sys.executable, str(ROOT / "benchmarks" / "floor.py"), str(port), str(workspace), PROMPT]


def halo_command(port: int, workspace: Path) -> list[str]:
    model = ["-m", "openai/bench", "--base-url", f"http://127.0.0.1:{port}/v1"]
    return [str(HALO), "run", "-p", PROMPT, "-y", *model, "-C", str(workspace)]


FLOOR = Contestant("floor", floor_command, [sys.executable, "-c", "pass"])
OURS = Contestant("halocline", halo_command, [str(HALO), "--version"])


@dataclass(frozen=True, slots=True)
class Run:
    """One run. Sizes are bytes, times seconds. `others` is how many cores the rest of the machine used meanwhile.

    `grown` is what home and temp gained. A run with `problems` did not do its work and is not counted.
    """

    contestant: str
    scenario: str
    outcome: Outcome
    others: float
    grown: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)

    @property
    def calls(self) -> list[float]:
        """From the last byte of each answer to the first act of the command that it called."""
        return [stamp - exchange.answered for stamp, exchange in zip(self.stamps, self.exchanges, strict=False)]

    @property
    def start(self) -> float:
        """From spawn to the first byte of the first request."""
        return self.exchanges[0].arrived - self.outcome.started

    @property
    def exit(self) -> float:
        """From the last byte of the last answer until the process is gone."""
        return self.outcome.ended - self.exchanges[-1].answered

    @property
    def gaps(self) -> list[float]:
        """From the last byte of each answer to the first byte of the next request."""
        pairs = zip(self.exchanges, self.exchanges[1:], strict=False)
        return [later.arrived - earlier.answered for earlier, later in pairs]

    @property
    def gap_cpu(self) -> list[float]:
        """CPU time of the process itself, without its children, in each gap."""
        pairs = zip(self.exchanges, self.exchanges[1:], strict=False)
        return [later.spent - earlier.spent_answered for earlier, later in pairs]


class Arena:
    """The folders of one contestant: a home that is used again, a temp folder, a workspace made anew for each run."""

    def __init__(self, contestant: Contestant, folder: Path, template: Path, latency: float) -> None:
        self.contestant = contestant
        self._template = template
        self._latency = latency
        self._home = folder / "home"
        self._temp = folder / "temp"
        self._workspace = folder / "workspace"
        for path in (self._home, self._temp, self._workspace):
            path.mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self._home),
            "TMPDIR": str(self._temp),
            "HALOCLINE_HOME": str(self._home / ".halocline"),
            "OPENAI_API_KEY": "bench",
        }

    def play(self, name: str, trace: Path | None = None) -> Run:
        """Run one scenario; with `trace`, strace writes its system calls there, which takes time of its own."""
        scenario = SCENARIOS[name]
        copy_fresh(self._template, self._workspace)
        before = total_bytes(self._home, self._temp)
        with _serving(name, self._latency) as server, Stamps(self._temp / STAMPS) as stamps:
            command = [*(tracing(trace) if trace else ()), *self.contestant.command(server.port, self._workspace)]
            outcome, text, failures = self._measure(command, server.tell_client)
            report = server.finish()
        failures += _missed(scenario, stamps.times)
        problems = [*report.problems, *failures, *_problems(scenario, report, text), *self._left_behind(scenario)]
        return Run(
            contestant=self.contestant.name,
            scenario=name,
            outcome=outcome,
            others=max(0.0, outcome.rest - report.cpu) / outcome.wall,
            grown=total_bytes(self._home, self._temp) - before,
            exchanges=report.exchanges,
            problems=problems,
            stamps=stamps.times,
        )

    def bare(self) -> Run:
        """Run the contestant's shortest command."""
        outcome, _, failures = self._measure(self.contestant.bare)
        return Run(self.contestant.name, "bare", outcome, outcome.rest / outcome.wall, problems=failures)

    def edit(self) -> Run:
        """Apply 1,000 blocks to a file of 1 MB."""
        command = [sys.executable, str(ROOT / "benchmarks" / "edits.py"), self.contestant.name]
        outcome, _, failures = self._measure(command)
        return Run(self.contestant.name, "edits", outcome, outcome.rest / outcome.wall, problems=failures)

    def _measure(
        self, command: list[str], on_start: Callable[[int], None] = lambda _process: None
    ) -> tuple[Outcome, str, list[str]]:
        """How the command went, its standard output, and what it said when it failed."""
        with TemporaryFile() as output, TemporaryFile() as errors:
            outcome = measure(command, self._workspace, self.environment, output, errors, on_start)
            text, complaint = _text_of(output), _text_of(errors)
        failures = [f"exit code {outcome.exit_code}: {complaint[-300:]!r}"] if outcome.exit_code else []
        return outcome, text, failures

    def _left_behind(self, scenario: Scenario) -> list[str]:
        running = [f"{name} was left running" for name in self._running()]
        return [*missing_work(scenario, self._workspace), *running]

    def _running(self) -> list[str]:
        """Names of the processes of a run that has ended; strace is given time to write what it saw."""
        while "strace" in (names := left_running(f"HOME={self._home}\0")):
            time.sleep(_LOOK_AGAIN)
        return names


@contextmanager
def arenas(folder: Path, latency: float = 0.0) -> Iterator[list[Arena]]:
    """The floor and ours, each with its folders below `folder`, which is emptied before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    template = folder / "template"
    template.mkdir(parents=True)
    try:
        make_template(template)
        yield [Arena(contestant, folder / contestant.name, template, latency) for contestant in (FLOOR, OURS)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A model server in a process of its own, which serves one run."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self._process = process
        self.port = int(process.stdout.readline())

    def tell_client(self, process: int) -> None:
        """Tell the server whose CPU time it is to note."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{process}\n")
        self._process.stdin.flush()

    def finish(self) -> Report:
        """End the server and return its report."""
        fields = json.loads(self._process.communicate()[0])
        exchanges = [Exchange(**exchange) for exchange in fields["exchanges"]]
        return Report(exchanges=exchanges, problems=fields["problems"], cpu=fields["cpu"])


@contextmanager
def _serving(scenario: str, latency: float) -> Iterator[Server]:
    command = [sys.executable, "-m", "benchmarks.server", scenario, str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def _text_of(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")


def _missed(scenario: Scenario, stamps: list[float]) -> list[str]:
    """What is wrong with the stamps: each command that makes one makes it once."""
    expected = sum(call.kind == "stamp" for call in scenario.calls)
    return [f"{len(stamps)} commands began instead of {expected}"] if len(stamps) != expected else []


def _problems(scenario: Scenario, report: Report, text: str) -> list[str]:
    """What the server's report and the standard output say against a run."""
    found: list[str] = []
    if len(report.exchanges) != len(scenario.calls) + 1:
        found.append(f"{len(report.exchanges)} requests instead of {len(scenario.calls) + 1}")
    if not all(exchange.answered for exchange in report.exchanges):
        found.append("an answer was not taken to its end")
    if [word.strip() for word in scenario.answer] != text.split()[-scenario.words :]:
        found.append(f"the last answer was not printed whole: {text[-120:]!r}")
    return found
