"""A gate against regressions: what steps cost now, in counts, against the figures that are kept in `kept.json`.

    python -m benchmarks.gate          # ends with 1 if a figure exceeds its limit
    python -m benchmarks.gate --keep   # keep what is measured now

A figure may exceed the kept one by a twentieth and by its noise: how far it was seen to vary between runs of the same
code while other processes kept both cores busy. Counts of a start and of a gap are the same in each run, but for a call
or two. Those of whole steps are not: what overlaps with an answer ends in a later step when others need the cores. What
exceeds its limit is measured again, three times in all: others can disturb one round, but a regression is there in
each. CPU times are ratios to the floor's of the same round; that of a single gap is not gated, because it varied by a
factor of two. Of the gaps of a kind the cheapest counts, of whole steps their mean: under load, work that overlaps with
the model's answer ends in a later step.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.steps import FEW, KINDS, Costs, measure_steps
from benchmarks.syscalls import missing_tracer

KEPT = Path(__file__).with_name("kept.json")
ALLOWED = 0.05
NOISE = {"cpu": 0.2, "syscalls": 0.0, "forks": 0.0, "syncs": 0.0}
"""How far figures of a kind vary, as a share; the kind is the last word of a figure's name."""
NOISE_OF_STEPS = {"step_syscalls": 0.5, "step_forks": 1.0, "step_syncs": 1.0}
"""The same for whole steps, on two cores for which twenty processes wait: they tell of what is done at each step."""
_ATTEMPTS = 3


def find_regressions(*, timed: bool = True) -> list[str]:
    """Say what exceeds its limit each time that it is measured; nothing if all is well.

    Without `timed` only counts are compared: on a machine that others share, CPU times changed threefold in an hour.
    """
    kept = {name: value for name, value in json.loads(KEPT.read_text()).items() if timed or not name.endswith("_cpu")}
    worse = list_excesses(kept, measure_gate())
    for _ in range(_ATTEMPTS - 1):
        if worse:
            again = list_excesses(kept, measure_gate())
            worse = {name: again[name] for name in worse if name in again}
    return list(worse.values())


def measure_gate(rounds: int = 1) -> dict[str, float]:
    """Measure what is gated. What needs a tracer is missing where there is none."""
    return dict(_figures(*measure_steps(FEW, rounds, traced=not missing_tracer())))


def list_excesses(kept: dict[str, float], now: dict[str, float]) -> dict[str, str]:
    """Describe each figure that exceeds its limit, by name. One that was not measured exceeds nothing."""
    return {
        name: f"{name}: {now[name]:.3g}, kept {value:.3g}, limit {limit_of(name, value):.3g}"
        for name, value in kept.items()
        if name in now and now[name] > limit_of(name, value)
    }


def limit_of(name: str, kept: float) -> float:
    """Return how far a figure may rise."""
    return kept * (1 + ALLOWED + NOISE_OF_STEPS.get(name, NOISE[name.rpartition("_")[2]]))


def _figures(floor: Costs, ours: Costs) -> Iterator[tuple[str, float]]:
    yield "start_cpu", ours.start_cpu / floor.start_cpu
    yield "steps_cpu", ours.later_cpu / floor.start_cpu
    yield "total_cpu", ours.total_cpu / floor.total_cpu
    if not (floor.steps and ours.steps):
        return
    yield "start_syscalls", ours.start.syscalls / floor.start.syscalls
    yield "start_forks", ours.start.forks
    yield "start_syncs", ours.start.syncs
    for kind in KINDS:
        gaps = [step.gap for step in ours.steps[kind]]
        yield f"{kind}_gap_syscalls", min(gap.syscalls for gap in gaps)
        yield f"{kind}_gap_forks", min(gap.forks for gap in gaps)
        yield f"{kind}_gap_syncs", min(gap.syncs for gap in gaps)
    steps = [step.whole for kind in KINDS for step in ours.steps[kind]]
    yield "step_syscalls", sum(step.syscalls for step in steps) / len(steps)
    yield "step_forks", sum(step.forks for step in steps) / len(steps)
    yield "step_syncs", sum(step.syncs for step in steps) / len(steps)


def main() -> int:
    if "--keep" in sys.argv[1:]:
        now = {name: round(value, 2) for name, value in measure_gate(rounds=5).items()}
        KEPT.write_text(json.dumps(now, indent=2) + "\n")
        return 0
    worse = find_regressions()
    print(*worse or ["No figure exceeds its limit."], sep="\n")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
