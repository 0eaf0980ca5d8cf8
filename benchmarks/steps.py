"""What a start and each kind of step cost in counts: system calls, processes, syncs, bytes, CPU time.

Counts hardly depend on what else the machine does, so they are worth comparing where times are not. A model that waits
before each answer lets work that is meant to overlap with it end. The first step of each kind, which loads and starts
what the later ones use, is left out; CPU times are of the process itself, without its children.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from benchmarks.figures import Figure
from benchmarks.session import Arena, Run, arenas
from benchmarks.syscalls import Counts, Step, Trace, medians, missing_tracer, read_trace

KINDS = ("read", "edit", "run")
_FIRST = "S1"
FEW, MANY = "S2-few", "S2"
"""Scenarios: for the gate, which has to be quick, and for the table."""
_WAIT = 0.2
_NEEDED = ("git", "bash", "grep")
_UNITS = {"syscalls": "system calls", "forks": "new processes", "programs": "programs started", "syncs": "syncs"}
_BYTES = {"read": "KB read", "written": "KB written"}
_MS = 1e3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Costs:
    """What one contestant took. CPU times are ms: until the first request, in the gap of each kind, of all later steps.

    `total_cpu` is that of the whole run with the processes it waited for. `start` and `steps` are empty where nothing
    can be traced.
    """

    start_cpu: float
    gap_cpu: dict[str, float]
    later_cpu: float
    total_cpu: float
    start: Counts
    steps: Mapping[str, Sequence[Step]]


def measure_steps(scenario: str, rounds: int, *, traced: bool = True) -> tuple[Costs, Costs]:
    """Play a scenario with the floor and ours in turns, then trace each once. RuntimeError: work is undone."""
    with _playing() as (floor, ours):
        _play(ours, _FIRST)  # what it keeps from one task to the next exists then; the floor keeps nothing
        runs = [(_play(floor, scenario), _play(ours, scenario)) for _ in range(rounds)]
        of_floor, of_ours = zip(*runs, strict=True)
        traces = [_trace(arena, scenario) if traced else None for arena in (floor, ours)]
    return _costs(of_floor, traces[0]), _costs(of_ours, traces[1])


def figures(rounds: int) -> list[Figure]:
    """All counts, the floor's and ours."""
    if reason := missing_tracer():
        print(f"System calls are not counted: {reason}.", file=sys.stderr)
    floor, ours = measure_steps(MANY, rounds, traced=not reason)
    return [*_cpu_figures(floor, ours), *_count_figures(floor, ours)]


def _cpu_figures(floor: Costs, ours: Costs) -> Iterator[Figure]:
    yield Figure("start_cpu", "start: CPU, ms", floor.start_cpu, ours.start_cpu)
    for kind in KINDS:
        yield Figure(f"{kind}_cpu", f"gap with {_name(kind)}: CPU, ms", floor.gap_cpu[kind], ours.gap_cpu[kind])


def _count_figures(floor: Costs, ours: Costs) -> Iterator[Figure]:
    if not (floor.steps and ours.steps):
        return
    yield from _figures_of("start", "start", floor.start, ours.start)
    for kind in KINDS:
        low, high = _median_step(floor.steps[kind]), _median_step(ours.steps[kind])
        yield from _figures_of(f"{kind}_gap", f"gap with {_name(kind)}", low.gap, high.gap)
        yield from _figures_of(f"{kind}_step", f"whole step with {_name(kind)}", low.whole, high.whole)


def _figures_of(name: str, title: str, floor: Counts, ours: Counts) -> Iterator[Figure]:
    low, high = asdict(floor), asdict(ours)
    for field, unit in _UNITS.items():
        yield Figure(f"{name}_{field}", f"{title}: {unit}", low[field], high[field])
    for field, unit in _BYTES.items():
        yield Figure(f"{name}_{field}", f"{title}: {unit}", low[field] / 1000, high[field] / 1000)


def _name(kind: str) -> str:
    return {"read": "a read", "edit": "an edit", "run": "a command"}[kind]


@contextmanager
def _playing() -> Iterator[list[Arena]]:
    """The contestants, with the programs they need and nothing else on their PATH, so that no machine counts more."""
    folder = Path(tempfile.gettempdir()) / f"halocline-steps-{os.getpid()}"
    found = [os.path.dirname(program) for name in _NEEDED if (program := shutil.which(name))]
    with arenas(folder, _WAIT) as both:
        for arena in both:
            arena.environment["PATH"] = os.pathsep.join(dict.fromkeys([*found, "/usr/bin", "/bin"]))
        yield both


def _play(arena: Arena, scenario: str, trace: Path | None = None) -> Run:
    run = arena.play(scenario, trace)
    if run.problems:
        raise RuntimeError(f"{run.contestant}: {'; '.join(run.problems)}")
    return run


def _trace(arena: Arena, scenario: str) -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "trace")
        _play(arena, scenario, output)
        return read_trace(output)


def _costs(runs: Sequence[Run], trace: Trace | None) -> Costs:
    return Costs(
        start_cpu=median(run.exchanges[0].spent for run in runs) * _MS,
        gap_cpu={kind: median(gap for run in runs for gap in _later(kind, run.gap_cpu)) * _MS for kind in KINDS},
        later_cpu=median(run.exchanges[-1].spent - run.exchanges[len(KINDS)].spent for run in runs) * _MS,
        total_cpu=median(run.outcome.cpu for run in runs) * _MS,
        start=trace.start if trace else Counts(),
        steps={kind: _later(kind, trace.steps) for kind in KINDS} if trace else {},
    )


def _later(kind: str, steps: Sequence[T]) -> Sequence[T]:
    """The steps of a kind without its first one; the kinds take turns."""
    return steps[KINDS.index(kind) :: len(KINDS)][1:]


def _median_step(steps: Sequence[Step]) -> Step:
    return Step(medians([step.gap for step in steps]), medians([step.whole for step in steps]))
