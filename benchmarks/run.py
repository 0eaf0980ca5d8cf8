"""Measure what we claim: `python -m benchmarks.run [--quick] [--rounds N] [--only start,gap,...] [--latency MS]`.

Prints a Markdown table, writes benchmarks/results/<time>.json, and ends with 1 when a goal was missed or a run failed.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import checkpoints, commands, context, judging, menu, search, steps
from benchmarks.figures import figures
from benchmarks.goals import GOALS
from benchmarks.report import as_json, counts, markdown, verdicts
from benchmarks.session import FLOOR, HALO, OURS, ROOT, Arena, Run, arenas

RESULTS = ROOT / "benchmarks" / "results"
PARTS = {
    "version": ("bare",) * 4,
    "start": ("S1", "S1"),
    "gap": ("S2",),
    "growth": ("S3",),
    "stream": ("S4", "S4-few") * 2,
    "calls": ("S5",),
    "steps": (),
    "parsing": (),
    "commands": (),
    "search": (),
    "menu": (),
    "context": (),
    "checkpoints": (),
    "edits": ("edits",),
}
_ROUNDS, _QUICK_ROUNDS = 9, 3


@dataclass(frozen=True, slots=True)
class Job:
    """One run that is to be made."""

    arena: Arena
    scenario: str

    def run(self) -> Run:
        match self.scenario:
            case "bare":
                return self.arena.bare()
            case "edits":
                return self.arena.edit()
            case scenario:
                return self.arena.play(scenario)


def plan(both: Sequence[Arena], parts: Sequence[str], rounds: int) -> Iterator[Job]:
    """All jobs: in each round every scenario once or more, the contestants side by side, the order turned each time."""
    scenarios = [scenario for part in parts for scenario in PARTS[part]]
    for number in range(rounds if scenarios else 0):
        turn = number % len(scenarios)
        for place, scenario in enumerate(scenarios[turn:] + scenarios[:turn]):
            pair = both if (number + place) % 2 else both[::-1]
            yield from (Job(arena, scenario) for arena in pair)


def perform(folder: Path, parts: Sequence[str], rounds: int, latency: float) -> list[Run]:
    """Warm up, then make all runs, saying on standard error how far it is."""
    runs: list[Run] = []
    with arenas(folder, latency) as both:
        for arena in both:
            arena.play("S1")
        jobs = list(plan(both, parts, rounds))
        for number, job in enumerate(jobs, 1):
            run = job.run()
            runs.append(run)
            _tell(f"{number}/{len(jobs)} {run.scenario} {run.contestant} {run.outcome.wall:.2f} s", run.problems)
    return runs


def _tell(line: str, problems: Sequence[str]) -> None:
    end = "\n" if problems or not sys.stderr.isatty() else "\r"
    print("; ".join([line, *problems[:3]]).ljust(60), end=end, file=sys.stderr, flush=True)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Measure what we claim about speed.")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK_ROUNDS} rounds instead of {_ROUNDS}")
    parser.add_argument("--rounds", type=int, metavar="N", help="how many rounds")
    parser.add_argument("--only", type=_parts, default=list(PARTS), metavar="PART,...", help=", ".join(PARTS))
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS", help="pause before each answer")
    return parser.parse_args(words)


def _parts(text: str) -> list[str]:
    chosen = text.split(",")
    if unknown := [part for part in chosen if part not in PARTS]:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return chosen


def main(words: Sequence[str] | None = None) -> int:
    chosen = _arguments(words)
    if not HALO.exists():
        sys.exit(f"{HALO} is missing: use `make bench`, which installs it")
    rounds = chosen.rounds or (_QUICK_ROUNDS if chosen.quick else _ROUNDS)
    folder = Path(tempfile.gettempdir()) / f"halocline-bench-{os.getpid()}"
    runs = perform(folder, chosen.only, rounds, chosen.latency / 1000)
    table = figures(runs, FLOOR.name, OURS.name)
    if "steps" in chosen.only:
        table += steps.figures(rounds)
    if "parsing" in chosen.only:
        from benchmarks.parsing import figures as of_parsing

        table += of_parsing(rounds)
    if "commands" in chosen.only:
        table += [*commands.figures(rounds), *judging.figures(rounds)]
    if "search" in chosen.only:
        table += search.figures(rounds)
    if "menu" in chosen.only:
        table += menu.figures(rounds)
    if "context" in chosen.only:
        table += context.figures(rounds)
    if "checkpoints" in chosen.only:
        table += checkpoints.figures(rounds)
    judged = verdicts(GOALS, table)
    facts = {"python": platform.python_version(), "machine": platform.platform(), "cores": os.cpu_count()}
    facts |= {"rounds": rounds, "parts": chosen.only, "latency_ms": chosen.latency}
    RESULTS.mkdir(exist_ok=True)
    result = RESULTS / time.strftime("%Y%m%dT%H%M%S.json")
    result.write_text(as_json(table, judged, runs, facts))
    print(markdown(table, judged), *("- " + line for line in counts(runs)), f"\n{result}", sep="\n")
    return int(any(verdict.met is False for verdict in judged) or any(run.problems for run in runs))


if __name__ == "__main__":
    sys.exit(main())
