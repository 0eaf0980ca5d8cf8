"""One task on the board: its group, what it does now or waits for, and its lines. Pure."""

from collections.abc import Sequence
from enum import StrEnum

from rich.cells import cell_len

from halocline.protocol.plan_approval import find_waiting_plan, needs_person
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.surfaces.figures import format_age, format_money, model_name
from halocline.surfaces.rows.words import UNSTARTED, find_subject
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.application.activity import Fragments, cut_line
from halocline.surfaces.terminal.application.status_bar import LITTLE_LEFT, context_left, shorten_folder
from halocline.surfaces.terminal.drawing.task_line import STATUSES

NARROW = 100
"""Columns below which the facts of a task have a line of their own."""
UNKNOWN = "–"
_FOLDER, _MODEL, _AGE, _COST, _CONTEXT = 20, 18, 10, 7, 9


class Group(StrEnum):
    """The groups of the board, in their order."""

    NEEDS_YOU = "needs you"
    RUNNING = "running"
    ENDED = "ended"


class TaskEntry(Value, frozen=True):
    """A task of the board. `state` is None until its log was read; `writer` is the process that has it open."""

    info: TaskInfo
    state: State | None = None
    writer: str = ""

    @property
    def group(self) -> Group:
        state = self.state
        if state is None:
            return Group.RUNNING if self.writer and self.info.status == "unfinished" else Group.ENDED
        if needs_person(state, is_open=bool(self.writer)):
            return Group.NEEDS_YOU
        return Group.RUNNING if self.writer and not state.turn_is_over else Group.ENDED

    @property
    def title(self) -> str:
        name = self.info.name or self.info.title or (self.state.title if self.state else "")
        return ("↳ " if self.info.parent else "") + (" ".join(clean(name).split()) or "(no prompt yet)")

    @property
    def changed_at(self) -> float:
        return max(self.info.changed_at, self.state.last_at if self.state else 0.0)

    @property
    def cost(self) -> str:
        cost = (self.state.budget if self.state else self.info).known_cost
        return format_money(cost) if cost else UNKNOWN

    @property
    def activity(self) -> str:
        """The present work of the task, or its wait; of one that is done, its end."""
        match self.group:
            case Group.NEEDS_YOU:
                return self._describe_wait() + ("" if self.writer else " · no process runs it")
            case Group.RUNNING:
                return _describe_work(self.state)
        ended = STATUSES.get(self.info.status, self.info.status)
        return f"{ended} · open in a terminal or page" if self.writer else ended

    def _describe_wait(self) -> str:
        state = self.state
        if state is None:
            return "waits"
        if state.pending.approvals:
            return f"approve: {_one_line(state.pending.approvals[0].title)}"
        if state.pending.questions:
            return f"asks: {_one_line(state.pending.questions[0].question)}"
        return "its plan waits for you" if find_waiting_plan(state) else "waits for you"


def _describe_work(state: State | None) -> str:
    if state is None:
        return "starting"
    if state.compaction.running:
        return "compacting"
    started = [one.call for one in state.pending.calls if one.started]
    if not started:
        return "the model is working"
    call = started[-1]
    verb = UNSTARTED.get(call.name, f"{call.name} ") or "running "
    return _one_line(verb + find_subject(call)) + (f" and {len(started) - 1} more" if len(started) > 1 else "")


def _one_line(text: str) -> str:
    return " ".join(clean(text[:500]).split())


def order_entries(entries: Sequence[TaskEntry]) -> dict[Group, list[TaskEntry]]:
    """Sort tasks into their groups, the latest first, each before its sub-agents."""
    newest = sorted(entries, key=lambda entry: entry.changed_at, reverse=True)
    below = {entry.info.task: [one for one in newest if one.info.parent == entry.info.task] for entry in newest}
    tops = [entry for entry in newest if not entry.info.parent]
    return {
        group: [one for entry in tops if entry.group is group for one in (entry, *below[entry.info.task])]
        for group in Group
    }


def draw_entry(entry: TaskEntry, width: int, now: float) -> list[Fragments]:
    """Draw a task: its title with its facts, and below them what it does or waits for, unless it is done well."""
    style = _STYLES[entry.group]
    mark = {Group.NEEDS_YOU: "? ", Group.RUNNING: "● "}.get(entry.group, "✓ " if _is_good(entry) else "■ ")
    activity: Fragments = [(style, f"  {cut_line(entry.activity, width - 3)}")]
    below = [activity] if entry.group is not Group.ENDED or entry.writer or not _is_good(entry) else []
    facts = _list_facts(entry, now)
    if width < NARROW:
        folder, model, age, cost, context = (text for text, _, _ in facts)
        known = " · ".join(text for text in (age, context, cost, model, folder) if text != UNKNOWN)
        head: Fragments = [(style, mark), ("class:title", cut_line(entry.title, width - 3))]
        return [head, *below, [("class:quiet", f"  {cut_line(known, width - 3)}")]]
    room = width - sum(size + 2 for _, size, _ in facts) - 2
    title = cut_line(entry.title, room)
    line: Fragments = [(style, mark), ("class:title", title), ("", " " * (room - cell_len(title)))]
    for text, size, fact_style in facts:
        shown = cut_line(text, size)
        line.append((fact_style, "  " + shown + " " * (size - cell_len(shown))))
    return [line, *below]


_STYLES = {Group.NEEDS_YOU: "class:warn", Group.RUNNING: "class:accent", Group.ENDED: "class:quiet"}


def _list_facts(entry: TaskEntry, now: float) -> list[tuple[str, int, str]]:
    """Folder, model, age, cost and the rest of the context, each with its columns and style."""
    left = context_left(entry.state) if entry.state else None
    is_short = left is not None and left < LITTLE_LEFT
    model = clean(model_name(entry.state.model.name if entry.state else entry.info.model))
    return [
        (shorten_folder(entry.info.workspace, _FOLDER), _FOLDER, "class:quiet"),
        (model, _MODEL, "class:quiet"),
        (format_age(entry.changed_at, now).removesuffix(" ago"), _AGE, "class:quiet"),
        (entry.cost, _COST, "class:quiet"),
        (UNKNOWN if left is None else f"{left}% left", _CONTEXT, "class:warn" if is_short else "class:quiet"),
    ]


def _is_good(entry: TaskEntry) -> bool:
    return entry.info.status == "end_turn"
