"""Converts the to-do list to Markdown and back: for editing, for exports, and for the `task_progress` of models.

Lines that are not items (headings, comments, text) and indentation are ignored.
"""

import re
from collections.abc import Sequence

from halocline.protocol.kinds import Todo, TodoStatus

NOW = "**now:**"
"""Prefix of the item in progress; other Markdown readers still see an open box."""
MOST = 200
"""Maximum items of a list."""
LONGEST = 500
"""Maximum characters of an item."""

BOXES = {TodoStatus.PENDING: "[ ]", TodoStatus.IN_PROGRESS: f"[ ] {NOW}", TodoStatus.COMPLETED: "[x]"}
"""Prefixes of items."""
# Not compiled here: every start imports this, and most tasks read no list.
_ITEM = r"\s*(?:[-*+]|\d+[.)])[ \t]+\[(.)\][ \t]+(.*\S)"
_NOW = r"\*{0,2}now:\*{0,2}[ \t]*"


def line_of(todo: Todo) -> str:
    """Format one item as one line."""
    return f"- {BOXES[todo.status]} {' '.join(todo.text.split())}"


def to_markdown(todos: Sequence[Todo]) -> str:
    """Format the items, one per line."""
    return "".join(f"{line_of(todo)}\n" for todo in todos)


def from_markdown(text: str) -> tuple[Todo, ...]:
    """Parse the items, in order; `[x]` is done; `[/]`, `[-]`, `[~]`, `[>]` and `**now:**` are in progress."""
    found = (re.match(_ITEM, line) for line in text.splitlines())
    return tuple(_parse_todo(item[1], item[2]) for item in found if item)[:MOST]


def at_work(todos: Sequence[Todo]) -> Todo | None:
    """Return the current item: the one in progress, else the first open one; None if all are done."""
    working = (todo for todo in todos if todo.status is TodoStatus.IN_PROGRESS)
    return next(working, next((todo for todo in todos if todo.status is TodoStatus.PENDING), None))


def count_done(todos: Sequence[Todo]) -> int:
    """Count the completed items."""
    return sum(todo.status is TodoStatus.COMPLETED for todo in todos)


def _parse_todo(mark: str, text: str) -> Todo:
    named = re.match(_NOW, text, re.IGNORECASE)
    text = text[named.end() :] if named and text[named.end() :] else text
    if mark in "xX✓✔":
        return Todo(text[:LONGEST], TodoStatus.COMPLETED)
    working = mark in "/-~>" or (named is not None and mark == " ")
    return Todo(text[:LONGEST], TodoStatus.IN_PROGRESS if working else TodoStatus.PENDING)
