"""What grows with a task, a home or a repository: `python -m benchmarks.growth [--only NAME]`, a table, an exit code.

Steps, events and tasks are counted by the thousand, so what is not linear shows. Times are CPU time, of `halo` with all
its threads where it runs as a process; the floor of a list is a `stat` of each log, that of a long task the smallest
tool loop (`floor.py`). A limit belongs to each row.
"""

import argparse
import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from benchmarks import history, menu
from benchmarks.process import Outcome, measure
from benchmarks.scenarios import LONG
from benchmarks.session import HALO, OURS, Run, arenas, halo_command
from halocline.protocol import codec, events as ev
from halocline.protocol.messages import Text, ToolResult
from halocline.protocol.state.reducer import fold_events
from halocline.task.log_reading import read_log

if TYPE_CHECKING:
    from halocline.surfaces.terminal.composing.completion import Known

STAGES = (200, 1_000, LONG)
_WINDOW = 100
"""Steps that a figure of a stage is the median of: those before it."""
_EVENTS = (10_000, 100_000)
_MANY, _FILES = 10_000, 200_000
_GIGABYTE, _PART = 1_000_000_000, 250_000
_MS, _MB = 1e3, 1e6
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A figure with its limit; `floor` is None where there is none."""

    title: str
    ours: float
    limit: float
    floor: float | None = None


def measure_steps() -> Iterator[Row]:
    """CPU time of a step of a long task, which must not rise: what is sent again was encoded before."""
    folder = Path(tempfile.gettempdir()) / f"halocline-growth-{os.getpid()}"
    with arenas(folder) as both:
        both[1].contestant = replace(OURS, command=_run_long)
        both[1].play("S1")
        floor, ours = (arena.play("S6") for arena in both)
    if problems := [*floor.problems, *ours.problems]:
        raise RuntimeError("; ".join(problems))
    first = _at_stage(ours, STAGES[0])
    for stage in STAGES:
        now = _at_stage(ours, stage)
        bare = _at_stage(floor, stage)
        yield Row(f"a step after {stage:,} steps, ms", now, 1.3 * first, bare)
    yield Row("… memory after all of them, MB", ours.outcome.peak / _MB, 100, floor.outcome.peak / _MB)


def _run_long(port: int, workspace: Path) -> list[str]:
    return [*halo_command(port, workspace), "--max-steps", str(LONG)]


def _at_stage(run: Run, stage: int) -> float:
    return median(run.gap_cpu[stage - _WINDOW - 1 : stage - 1]) * _MS


def measure_folding() -> Iterator[Row]:
    """CPU time to read and fold logs of thousands of events, each event."""
    with tempfile.TemporaryDirectory(prefix="halocline-growth-") as place:
        each = [_fold_log(Path(place), count) for count in _EVENTS]
    for count, took in zip(_EVENTS, each, strict=True):
        yield Row(f"opening {count:,} events, ms", took * count * _MS, 200 * count / _EVENTS[0])
    yield Row("… an event of the longer one ÷ one of the shorter", each[1] / each[0], 1.25)


def _fold_log(folder: Path, count: int) -> float:
    """CPU seconds for each event."""
    written = history.write(folder, f"log-{count}", history.steps(random.Random(1), 1, count // 7), 1.79e9)
    path = folder / f"log-{count}" / codec.LOG_NAME
    return min(_spent(lambda: fold_events(read_log(path))) for _ in range(_ROUNDS)) / written


def measure_lists() -> Iterator[Row]:
    """CPU time of `halo tasks list` over thousands of tasks, beside an empty home."""
    with tempfile.TemporaryDirectory(prefix="halocline-growth-") as place:
        empty, full = Path(place, "empty"), Path(place, "full")
        history.generate(full / "tasks", _MANY)
        floor = _spent(partial(history.look, full / "tasks"))
        _run_halo(full, "tasks", "list")  # makes the index
        for title, arguments in {"the newest": ("--limit", "20"), "all": ("--limit", str(_MANY))}.items():
            spent = [
                median(_run_halo(home, "tasks", "list", "--all", *arguments).cpu for _ in range(_ROUNDS))
                for home in (empty, full)
            ]
            yield Row(f"halo tasks list, {title} of {_MANY:,} tasks, ms", spent[1] * _MS, 1_000, floor * _MS)
            yield Row("… of these beyond an empty home, ms", (spent[1] - spent[0]) * _MS, 500)


def measure_showing() -> Iterator[Row]:
    """CPU time and memory of `halo tasks show` with a gigabyte of text, into a pipe."""
    with tempfile.TemporaryDirectory(prefix="halocline-growth-") as place:
        size = _write_large(Path(place))
        outcome = _run_halo(Path(place), "tasks", "show", "large")
    yield Row(f"halo tasks show, {size / 1e9:.2g} GB: s", outcome.cpu, 30)
    yield Row("… memory, MB", outcome.peak / _MB, 100)


def _write_large(home: Path) -> int:
    """Write the log of a task whose commands print much; return its size."""
    output = (Text("The parser reads each token once, and the cache keeps what it made of it.\n" * (_PART // 75)),)
    events = history.steps(random.Random(1), 1, _GIGABYTE // _PART)
    folder = home / "tasks"
    history.write(folder, "large", map(partial(_with_output, output), events), 1.79e9)
    return (folder / "large" / codec.LOG_NAME).stat().st_size


def _with_output(output: tuple[Text, ...], event: ev.Durable) -> ev.Durable:
    if not isinstance(event, ev.ToolCallEnded):
        return event
    return msgspec.structs.replace(event, result=ToolResult(call=event.call, content=output))


def measure_menu() -> Iterator[Row]:
    """CPU time for a key behind an @ in a large folder, of which the list holds the first files."""
    from halocline.hosts.ripgrep import Ripgrep
    from halocline.runtime.mentions.suggestions import MOST_FILES, Mentionable
    from halocline.surfaces.terminal.composing.completion import Known

    with tempfile.TemporaryDirectory(prefix="halocline-growth-") as place:
        for path in menu.paths(_FILES):
            file = Path(place, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        names: list[str] = []
        listing = _spent(lambda: names.extend(asyncio.run(Ripgrep().files(Path(place), MOST_FILES))[0]))
        bare = [Ripgrep().program, "--files", place]
        floor = _spent(lambda: subprocess.run(bare, stdout=subprocess.DEVNULL, check=True))
    found = Mentionable(tuple(names))
    ready = min(_spent(lambda: Known(found)) for _ in range(_ROUNDS))
    known = Known(found)
    keys = [min(_spent(partial(_list_fitting, known, typed)) for _ in range(_ROUNDS)) for typed in menu.TYPED]
    yield Row(f"a key behind an @, {_FILES:,} files, {len(names):,} listed, ms", max(keys) * _MS, 100)
    yield Row("… listing them, ms", listing * _MS, 4 * floor * _MS, floor * _MS)
    yield Row("… making the list ready, ms", ready * _MS, 250)


def _list_fitting(known: "Known", typed: str) -> list[tuple[str, str, str]]:
    return list(known.fitting(typed))


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "steps": measure_steps,
    "folding": measure_folding,
    "lists": measure_lists,
    "showing": measure_showing,
    "menu": measure_menu,
}


def _run_halo(home: Path, *words: str) -> Outcome:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "HALOCLINE_HOME": str(home), "LANG": "C.UTF-8"}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        outcome = measure([str(HALO), *words], Path.cwd(), environment, output, errors)
        errors.seek(0)
        if outcome.exit_code:
            raise RuntimeError(f"halo {' '.join(words)}: {errors.read().decode()[-300:]}")
    return outcome


def _spent(work: Callable[[], object]) -> float:
    """CPU seconds, with those of processes that it waited for."""
    began = _cpu()
    work()
    return _cpu() - began


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def print_rows(rows: Sequence[Row]) -> None:
    for row in rows:
        floor = "" if row.floor is None else f"{row.floor:.3g}"
        verdict = "met" if row.ours <= row.limit else "MISSED"
        print(f"| {row.title} | {floor} | {row.ours:.3g} | {row.limit:.3g} | {verdict} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    only = parser.parse_args().only
    print("| what | floor | ours | limit | |", "| --- | ---: | ---: | ---: | --- |", sep="\n")
    missed = 0
    for name, part in PARTS.items():
        if only in (None, name):
            rows = list(part())
            print_rows(rows)
            missed += sum(row.ours > row.limit for row in rows)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
