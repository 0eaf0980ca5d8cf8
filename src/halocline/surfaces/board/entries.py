"""One task on the board: its group, what it does or waits for, and its facts. Pure; terminal and page show these."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest

from msgspec.structs import replace

from halocline.protocol.messages import AssistantMessage
from halocline.protocol.plan_approval import find_waiting_plan, needs_person
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.state.state import PROCESS_ENDED, State
from halocline.protocol.values import Value
from halocline.surfaces.board.worktrees import WorktreeState
from halocline.surfaces.figures import STATUSES, context_left, format_money, model_name
from halocline.surfaces.rows.words import UNSTARTED, find_subject, strip_markdown
from halocline.surfaces.sanitize import clean

UNKNOWN = "–"
LONGEST = 240
"""Characters of a line of a task that are kept."""
_SHORT_ID = 4
NO_PROCESS = "no process runs it"


class Group(StrEnum):
    """The groups of the board, in their order."""

    NEEDS_YOU = "needs you"
    RUNNING = "running"
    CUT_SHORT = "cut short"
    ENDED = "ended"


class Asked(StrEnum):
    """The needs of a task that a person meets."""

    APPROVAL = "approval"
    ANSWER = "answer"
    PLAN = "plan"
    START = "start"


class BoardRow(Value, frozen=True):
    """A task as the board shows it. `activity` is its present work, its wait or its end; `reply` its latest words.

    `asked` is empty unless it needs a person, and `process` is the pid of its process. It waits for the tasks `after`.
    `context` is the percentage that is left, and `repository` the name of its worktree's main folder. `words` is what
    a filter looks at, in lower case.
    """

    task: str
    group: Group
    title: str
    activity: str
    folder: str
    model: str
    cost: str
    changed_at: float
    words: str
    reply: str = ""
    worktree: str = ""
    repository: str = ""
    work: WorktreeState | None = None
    parent: str = ""
    process: str = ""
    after: tuple[str, ...] = ()
    asked: str = ""
    grade: str = ""
    context: int | None = None
    is_good: bool = False
    is_bad: bool = False
    favourite: bool = False

    @property
    def can_resume(self) -> bool:
        """True if another process can take it up where it stopped."""
        return not self.process and (self.group is Group.CUT_SHORT or bool(self.asked))


class TaskEntry(Value, frozen=True, dict=True):
    """A task of the board. `state` is None until its log was read; `writer` is the process that has it open.

    `awaited` are the titles of the tasks that it waits for; empty for one that is not known.
    """

    info: TaskInfo
    state: State | None = None
    writer: str = ""
    worktree: str = ""
    work: WorktreeState | None = None
    repository: str = ""
    awaited: tuple[str, ...] = ()

    @cached_property
    def group(self) -> Group:
        state = self.state
        if state is None:
            return Group.RUNNING if self.writer and self.info.status == "unfinished" else Group.ENDED
        if needs_person(state, is_open=bool(self.writer)):
            return Group.NEEDS_YOU
        if not self.writer:
            return Group.CUT_SHORT if _is_cut_short(state) else Group.ENDED
        return Group.ENDED if state.turn_is_over and not state.queue.waits else Group.RUNNING

    @property
    def asked(self) -> str:
        """Its present need of a person; empty if there is none."""
        state = self.state
        if state is None or self.group is not Group.NEEDS_YOU:
            return ""
        if state.turn is None and state.queue.refused:
            return Asked.START
        if state.pending.approvals:
            return Asked.APPROVAL
        return Asked.PLAN if find_waiting_plan(state) else Asked.ANSWER

    @cached_property
    def row(self) -> BoardRow:
        """The task as it is shown."""
        state, info, title = self.state, self.info, self._title
        model = clean(model_name(state.model.name if state else info.model))
        worktree = _one_line(self.worktree)
        standing = self.work.text if self.work else ""
        known = (title, info.workspace, worktree, self.repository, standing, model, info.task, self.group)
        return BoardRow(
            info.task,
            self.group,
            title,
            self.activity,
            info.workspace,
            model,
            self._cost,
            info.changed_at,
            _one_line(" ".join(known)).lower(),
            reply=_find_reply(state),
            worktree=worktree,
            repository=_one_line(self.repository),
            work=self.work,
            parent=info.parent,
            process=self.writer,
            after=tuple(one for message in state.queue.waits for one in message.after) if state else (),
            asked=self.asked,
            grade=state.pending.approvals[0].grade if state and self.asked == Asked.APPROVAL else "",
            context=context_left(state) if state else None,
            is_good=info.status == "end_turn",
            is_bad=info.status == "error",
            favourite=info.favourite,
        )

    def same_as(self, other: "TaskEntry") -> bool:
        """True if both show the same. States grow large, and are compared by identity."""
        mine, theirs = (replace(one, state=None) for one in (self, other))
        return self.state is other.state and mine == theirs

    @property
    def activity(self) -> str:
        """The present work of the task, or its wait; of one that is done, its end."""
        match self.group:
            case Group.NEEDS_YOU:
                return self._describe_wait() + ("" if self.writer else f" · {NO_PROCESS}")
            case Group.RUNNING:
                return self._describe_work()
            case Group.CUT_SHORT:
                open_work = self.state and (self.state.turn or self.state.queue.waits)
                return "cut short" + (f": {self._describe_work()}" if open_work else "")
        if self.state and self.state.queue.messages and self.state.last_end is None:
            return "stopped before it started"
        return STATUSES.get(self.info.status, self.info.status)

    @property
    def _title(self) -> str:
        name = self.info.name or self.info.title or (self.state.title if self.state else "")
        return _one_line(name) or "(no prompt yet)"

    @property
    def _cost(self) -> str:
        cost = (self.state.budget if self.state else self.info).known_cost
        return format_money(cost) if cost else UNKNOWN

    def _describe_wait(self) -> str:
        state = self.state
        if state is None:
            return "waits"
        match self.asked:
            case Asked.START if state.queue.refused:
                return f"not started: {_one_line(state.queue.refused.reason)}"
            case Asked.APPROVAL:
                return f"approve: {_one_line(state.pending.approvals[0].title)}"
            case Asked.PLAN:
                return "its plan waits for you"
        questions = state.pending.questions
        return f"asks: {_one_line(strip_markdown(questions[0].question))}" if questions else "waits for you"

    def _describe_work(self) -> str:
        state = self.state
        if state is None:
            return "starting"
        if state.turn is None and state.queue.waits:
            waits = zip_longest(state.queue.waits[0].after, self.awaited, fillvalue="")
            return f"waits for {', '.join(_one_line(title) or one[-_SHORT_ID:] for one, title in waits)}"
        if state.compaction.running:
            return "compacting"
        started = [one.call for one in state.pending.calls if one.started]
        if not started:
            return "the model is working"
        call = started[-1]
        verb = UNSTARTED.get(call.name, f"{call.name} ") or "running "
        return _one_line(verb + find_subject(call)) + (f" and {len(started) - 1} more" if len(started) > 1 else "")


def _is_cut_short(state: State) -> bool:
    """True if the process of a task that none has open ended in the middle of its work, and no one continued it."""
    end = state.last_end
    return state.turn is not None or bool(state.queue.waits) or (end is not None and end.text == PROCESS_ENDED)


def _find_reply(state: State | None) -> str:
    """Return the last line of what the model said last, without Markdown."""
    for message in reversed(state.messages if state else ()):
        lines = message.text.splitlines() if isinstance(message, AssistantMessage) else []
        if words := next((line for line in reversed(lines) if re.search(r"\w", line)), ""):
            return _one_line(strip_markdown(words))
    return ""


def _one_line(text: str) -> str:
    return " ".join(clean(text[:LONGEST]).split()) + "…" * (len(text) > LONGEST)


def order_entries(entries: Sequence[TaskEntry]) -> dict[Group, list[TaskEntry]]:
    """Sort tasks into their groups, the latest first, each before its sub-agents."""
    newest = sorted(entries, key=lambda entry: entry.info.changed_at, reverse=True)
    below: dict[str, list[TaskEntry]] = {}
    for entry in newest:
        below.setdefault(entry.info.parent, []).append(entry)

    def list_below(task: str) -> list[TaskEntry]:
        return [one for entry in below.get(task, ()) for one in (entry, *list_below(entry.info.task))]

    groups: dict[Group, list[TaskEntry]] = {group: [] for group in Group}
    for entry in below.get("", ()):
        groups[entry.group] += [entry, *list_below(entry.info.task)]
    return groups


def list_rows(entries: Sequence[TaskEntry]) -> list[BoardRow]:
    """Return the tasks as they are shown, in the order of the board; sub-agents are in the group of their task."""
    return [
        row if row.group is group else replace(row, group=group)
        for group, ones in order_entries(entries).items()
        for row in (one.row for one in ones)
    ]


def list_tasks(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Return the rows that count as tasks: not those below another, which asks what they ask."""
    there = {row.task for row in rows}
    return [row for row in rows if row.parent not in there]


def fits_filter(row: BoardRow, words: str) -> bool:
    """True if a task has all these words, or beginnings of them, anywhere."""
    return all(word in row.words for word in words.lower().split())
