"""The line below the composer: model, modes, folder, context left, cost, jobs, and other tasks that wait."""

import os
from collections.abc import Sequence

from rich.cells import cell_len

from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.surfaces.figures import context_left, format_known_cost, format_plural, model_name
from halocline.surfaces.sanitize import clean

LONGEST_FOLDER = LONGEST_GOAL = 40
QUIET, LOUD, WARN = "class:quiet", "class:loud", "class:warn"
LITTLE_LEFT = 20
"""Percent of the context window from which the rest is shown as a warning."""

Fragments = list[tuple[str, str]]


class Fact(Value, frozen=True):
    """A part of the line. When the line is too long, facts with the lowest `weight` are left out first."""

    text: str
    style: str = QUIET
    weight: int = 5


def status_facts(state: State, *, branch: str = "", jobs: int = 0, waiting: int = 0) -> list[Fact]:
    """List what is known of a task. `waiting`: other tasks that need an answer."""
    facts = [
        Fact(clean(model_name(state.model.name)), weight=6),
        Fact("plan mode", WARN, 8) if state.plan.mode is Mode.PLAN else Fact("act", weight=4),
        _approval_fact(state.permissions.approval_mode),
        Fact(shorten_folder(state.workspace) + (f" ({clean(branch)})" if branch else ""), weight=3),
    ]
    if state.goal.is_open:
        facts.append(Fact(f"goal: {clean(state.goal.name.split(chr(10), 1)[0])[:LONGEST_GOAL]}", weight=5))
    left = context_left(state)
    if left is not None:
        facts.append(
            Fact(f"{left}% context left", WARN if left < LITTLE_LEFT else QUIET, 7 if left < LITTLE_LEFT else 2)
        )
    if state.budget.spent > 0:
        facts.append(Fact(format_known_cost(state.budget), weight=2))
    if jobs:
        facts.append(Fact(format_plural(jobs, "job"), WARN, 6))
    if waiting:
        facts.append(Fact(f"{format_plural(waiting, 'task')} waiting", LOUD, 7))
    return facts


def _approval_fact(mode: ApprovalMode) -> Fact:
    if mode is ApprovalMode.YOLO:
        return Fact(" YOLO: nothing asks ", LOUD, 9)
    return Fact(mode.value, WARN if mode is ApprovalMode.AUTO else QUIET, 8)


def shorten_folder(folder: str, most: int = LONGEST_FOLDER) -> str:
    """`~` for the home folder; a long path loses its beginning."""
    home = os.path.expanduser("~")
    text = clean(f"~{folder[len(home) :]}" if folder == home or folder.startswith(f"{home}/") else folder)
    text = text.replace("\n", "␊")
    return text if len(text) <= most else "…" + text[-(most - 1) :]


def fit_facts(facts: Sequence[Fact], width: int) -> Fragments:
    """Join facts that fit into the width."""
    kept = list(facts)
    while kept and _width_of(kept) > width:
        kept.remove(min(kept, key=lambda fact: fact.weight))
    line: Fragments = []
    for fact in kept:
        line += [(QUIET, " · ")] if line else [("", "  ")]
        line.append((fact.style, fact.text))
    return line


def _width_of(facts: Sequence[Fact]) -> int:
    return 2 + sum(cell_len(fact.text) + 3 for fact in facts) - 3
