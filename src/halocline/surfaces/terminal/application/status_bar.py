"""The line below the composer: model, modes, folder, context left, cost, jobs, and other tasks that wait."""

import os
from collections.abc import Sequence

from msgspec.structs import replace
from rich.cells import cell_len

from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.surfaces.figures import context_left, format_count, format_known_cost, format_plural, model_name
from halocline.surfaces.sanitize import clean
from halocline.surfaces.wrapping import Fragments

LONGEST_FOLDER = LONGEST_GOAL = 40
QUIET, LOUD, WARN = "class:quiet", "class:loud", "class:warn"
LITTLE_LEFT = 20
"""Percent of the context window from which the rest is shown as a warning."""


class Fact(Value, frozen=True):
    """A part of the line. When that is too long, the fact of the lowest `weight` is said `shorter`, or left out."""

    text: str
    style: str = QUIET
    weight: int = 5
    shorter: tuple[str, ...] = ()

    def shorten(self) -> "tuple[Fact, ...]":
        """Return it in fewer words; nothing if it has none."""
        return (replace(self, text=self.shorter[0], shorter=self.shorter[1:]),) if self.shorter else ()


def status_facts(state: State, *, branch: str = "", jobs: int = 0, waiting: int = 0) -> list[Fact]:
    """List what is known of a task. `waiting`: other tasks that need an answer."""
    model = clean(model_name(state.model.name))
    facts = [
        Fact(model, weight=4, shorter=(model.rpartition("/")[2],)),
        Fact("plan mode", WARN, 8) if state.plan.mode is Mode.PLAN else Fact("act", weight=1),
        _approval_fact(state.permissions.approval_mode),
        _folder_fact(state.workspace, clean(branch)),
    ]
    if state.goal.is_open:
        facts.append(Fact(f"goal: {clean(state.goal.name.split(chr(10), 1)[0])[:LONGEST_GOAL]}", weight=5))
    facts += _context_fact(state)
    if state.budget.spent > 0:
        cost = format_known_cost(state.budget)
        facts.append(Fact(cost, weight=6, shorter=(cost.replace("at least ", "≥"),)))
    if jobs:
        facts.append(Fact(format_plural(jobs, "job"), WARN, 5))
    if waiting:
        facts.append(Fact(f"{format_plural(waiting, 'task')} waiting", LOUD, 7, (f"{waiting} waiting",)))
    return facts


def _folder_fact(folder: str, branch: str) -> Fact:
    forms = [shorten_folder(folder), shorten_folder(folder.rstrip("/").rpartition("/")[2])]
    if branch:
        forms = [*(f"{form} ({branch})" for form in forms), branch]
    return Fact(forms[0], weight=3, shorter=tuple(forms[1:]))


def _context_fact(state: State) -> list[Fact]:
    """The part of the context window that is left; of a window that is unknown, the tokens in it."""
    left, used = context_left(state), state.budget.last_usage.total
    if left is None:
        return [Fact(f"{format_count(used)} context", weight=6, shorter=(format_count(used),))] if used else []
    style, weight = (WARN, 7) if left < LITTLE_LEFT else (QUIET, 6)
    return [Fact(f"{left}% context left", style, weight, (f"{left}% left", f"{left}%"))]


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
        at = min(range(len(kept)), key=lambda place: kept[place].weight)
        kept[at : at + 1] = kept[at].shorten()
    line: Fragments = []
    for fact in kept:
        line += [(QUIET, " · ")] if line else [("", "  ")]
        line.append((fact.style, fact.text))
    return line


def _width_of(facts: Sequence[Fact]) -> int:
    return 2 + sum(cell_len(fact.text) + 3 for fact in facts) - 3
