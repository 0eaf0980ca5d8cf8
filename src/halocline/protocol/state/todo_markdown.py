"""A to-do list as Markdown and back: what a person may edit, an export shows, and models write as `task_progress`.

What is not an item (headings, comments, free words) is passed over; indentation is.
"""

import re
from collections.abc import Sequence

from halocline.protocol.kinds import Todo, TodoStatus

NOW = "**now:**"
"""Before the text of the item that is in progress; other Markdown readers still see an open box."""
MOST = 200
"""Items of one list."""
LONGEST = 500
"""Characters of one item."""

BOXES = {TodoStatus.PENDING: "[ ]", TodoStatus.IN_PROGRESS: f"[ ] {NOW}", TodoStatus.COMPLETED: "[x]"}
"""What stands before the text of an item."""
# Not compiled here: most tasks read no list, and every start comes by.
_ITEM = r"\s*(?:[-*+]|\d+[.)])[ \t]+\[(.)\][ \t]+(.*\S)"
_NOW = r"\*{0,2}now:\*{0,2}[ \t]*"


def line_of(todo: Todo) -> str:
    """One item on one line."""
    return f"- {BOXES[todo.status]} {' '.join(todo.text.split())}"


def to_markdown(todos: Sequence[Todo]) -> str:
    """The items, each on its line."""
    return "".join(f"{line_of(todo)}\n" for todo in todos)


def from_markdown(text: str) -> tuple[Todo, ...]:
    """The items of a text, in order; `[x]` is done, `[/]`, `[-]`, `[~]`, `[>]` and `**now:**` are in progress."""
    found = (re.match(_ITEM, line) for line in text.splitlines())
    return tuple(_parse_todo(item[1], item[2]) for item in found if item)[:MOST]


def at_work(todos: Sequence[Todo]) -> Todo | None:
    """The current step: what is in progress, else the first that is open; None when all is done."""
    working = (todo for todo in todos if todo.status is TodoStatus.IN_PROGRESS)
    return next(working, next((todo for todo in todos if todo.status is TodoStatus.PENDING), None))


def count_done(todos: Sequence[Todo]) -> int:
    """How many are completed."""
    return sum(todo.status is TodoStatus.COMPLETED for todo in todos)


def _parse_todo(mark: str, text: str) -> Todo:
    named = re.match(_NOW, text, re.IGNORECASE)
    text = text[named.end() :] if named and text[named.end() :] else text
    if mark in "xX✓✔":
        return Todo(text[:LONGEST], TodoStatus.COMPLETED)
    working = mark in "/-~>" or (named is not None and mark == " ")
    return Todo(text[:LONGEST], TodoStatus.IN_PROGRESS if working else TodoStatus.PENDING)
