"""Notes on the to-do list: the user's edits, and reminders. Each is a line or two.

A reminder does not repeat the list: the model has it in its own calls, or in their summary.
"""

from collections.abc import Sequence

from halocline.protocol.kinds import Mode, Todo
from halocline.protocol.messages import Note
from halocline.protocol.state.todo_markdown import at_work, count_done, to_markdown

SOURCE = "todos"
ALL_DONE = "All done: finish with a short result, or send a new list if there is more to do."


def note_edited(todos: Sequence[Todo]) -> Note:
    """Build the note on a list that the user edited."""
    end = "" if at_work(todos) else f"\n{ALL_DONE}"
    head = "The user edited the to-do list. This version replaces any update you sent in the meantime:"
    return Note(f"{head}\n{to_markdown(todos).rstrip()}{end}", source=SOURCE)


def note_overdue(todos: Sequence[Todo], requests: int) -> Note:
    """Build the note on a list that was not updated for a while."""
    text = f"To-do list not updated for {requests} steps: {_describe_standing(todos)} Update it if it is out of date."
    return Note(text, source=SOURCE)


def note_switched(todos: Sequence[Todo], mode: Mode) -> Note:
    """Build the note on an open list when the user changed the mode."""
    return Note(f"Mode is {mode} now. To-do list: {_describe_standing(todos)} Keep it up to date.", source=SOURCE)


def _describe_standing(todos: Sequence[Todo]) -> str:
    step = at_work(todos)
    current = f", now at: {_shorten_text(step.text)}." if step else "."
    return f"{count_done(todos)} of {len(todos)} done{current}"


def _shorten_text(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
