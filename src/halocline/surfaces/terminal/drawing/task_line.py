"""One task as a line of a list."""

import re
import sys
from collections.abc import Collection, Iterable

from halocline.protocol.queries.tasks import MARKS, Order, TaskInfo, TaskQuery
from halocline.surfaces import figures
from halocline.surfaces.figures import STATUSES, format_size, format_time
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry

NEEDS_YOU = "needs you"
"""The label of a task that waits for an answer: for an approval, say."""


RUNNING = "running"


def task_line(info: TaskInfo, query: TaskQuery, waiting: Collection[str] = (), opened: Collection[str] = ()) -> str:
    """One line of the list, with the value it is sorted by.

    The tasks in `waiting` wait for an answer, those in `opened` are open in a process.
    """
    status = RUNNING if info.status == "unfinished" and info.task in opened else STATUSES.get(info.status, info.status)
    status = NEEDS_YOU if info.task in waiting else status
    facts = [info.task, format_time(info.changed_at), f"{status:<11}"]
    match query.order:
        case Order.COST:
            facts.append(f"{figures.format_money(info.known_cost):>8}")
        case Order.TOKENS:
            facts.append(f"{info.tokens:>11,}")
        case Order.SIZE:
            facts.append(f"{format_size(info.size):>8}")
    words = ["★"] if info.favourite else []
    words += [info.name or info.title, *(f"#{tag}" for tag in info.tags)]
    return entry(*facts, text=" ".join(words))


def describe_former(tasks: Iterable[TaskInfo]) -> list[str]:
    """Say where the folders of tasks were before they were renamed, a line for each."""
    moves = {(one.former, one.workspace): None for one in tasks if one.former}
    return [f"The folder {_show_place(former)} is called {_show_place(now)} now." for former, now in moves]


def _show_place(path: str) -> str:
    """Return a path in one line: a name must not look like a line of ours."""
    return clean(path).replace("\n", "␊")


def mark_words(snippet: str) -> str:
    """Highlight the matches on a terminal."""
    begin, end = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    parts = re.split(f"([{''.join(MARKS)}])", snippet)
    return "".join({MARKS[0]: begin, MARKS[1]: end}.get(part, clean(part)) for part in parts)
