"""Figures and goals as a Markdown table for people and as JSON for programs. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.figures import Figure, quiet
from benchmarks.goals import Goal, Measure
from benchmarks.session import Run


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal with the figure it bounds. `met` is None when nothing was measured for it."""

    goal: Goal
    value: float | None

    @property
    def met(self) -> bool | None:
        return None if self.value is None else self.value <= self.goal.limit


def verdicts(goals: Sequence[Goal], table: Sequence[Figure]) -> list[Verdict]:
    """Each goal beside what was measured."""
    by_name = {figure.name: figure for figure in table}
    return [Verdict(goal, _bounded(goal, by_name.get(goal.figure))) for goal in goals]


def _bounded(goal: Goal, figure: Figure | None) -> float | None:
    if figure is None:
        return None
    return figure.ratio if goal.measure is Measure.RATIO else figure.ours


def markdown(table: Sequence[Figure], judged: Sequence[Verdict]) -> str:
    """The table of all figures."""
    by_name = {verdict.goal.figure: verdict for verdict in judged}
    lines = [
        "| what | floor | ours | ratio | goal | aim | met |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    return "\n".join([*lines, *(_line(figure, by_name.get(figure.name)) for figure in table)])


def _line(figure: Figure, verdict: Verdict | None) -> str:
    cells = [figure.title, _number(figure.floor), _number(figure.ours), _number(figure.ratio)]
    return "| " + " | ".join([*cells, *_goal_cells(verdict)]) + " |"


def _goal_cells(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return ["", "", ""]
    goal = verdict.goal
    sign = " ×" if goal.measure is Measure.RATIO else ""
    aim = "" if goal.aim is None else f"≤ {goal.aim:g}{sign}"
    return [f"≤ {goal.limit:g}{sign}", aim, {True: "yes", False: "**no**", None: "–"}[verdict.met]]


def _number(value: float | None) -> str:
    """Three digits that mean something."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def counts(runs: Sequence[Run]) -> list[str]:
    """One line a scenario and contestant: how many runs there were, how many were sound, how many quiet."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.scenario, run.contestant), []).append(run)
    return [_count(f"{scenario} {contestant}", group) for (scenario, contestant), group in sorted(groups.items())]


def _count(name: str, group: Sequence[Run]) -> str:
    sound = [run for run in group if not run.problems]
    load = median(run.others for run in group)
    return f"{name}: {len(group)} runs, {len(sound)} sound, {len(quiet(sound))} used; others {load:.1f} cores (median)"


def as_json(table: Sequence[Figure], judged: Sequence[Verdict], runs: Sequence[Run], facts: dict[str, Any]) -> str:
    """Everything, the single runs included."""
    return json.dumps(
        {
            "facts": facts,
            "figures": [asdict(figure) | {"ratio": figure.ratio} for figure in table],
            "goals": [asdict(verdict.goal) | {"value": verdict.value, "met": verdict.met} for verdict in judged],
            "runs": [_run(run) for run in runs],
        },
        indent=1,
    )


def _run(run: Run) -> dict[str, Any]:
    """A run without its exchanges, which its gaps sum up."""
    fields = asdict(run) | {"gaps": [round(gap, 6) for gap in run.gaps]}
    del fields["exchanges"]
    return fields
