"""The lines of a task in the list. Pure."""

from rich.cells import cell_len

from halocline.surfaces.board.entries import UNKNOWN, BoardRow, Group
from halocline.surfaces.board.worktrees import Standing
from halocline.surfaces.figures import format_age
from halocline.surfaces.terminal.application.status_bar import LITTLE_LEFT, shorten_folder
from halocline.surfaces.wrapping import Fragments, cut_line

NARROW = 100
"""Columns below which the facts of a task have a line of their own."""
STYLES = {
    Group.NEEDS_YOU: "class:warn",
    Group.RUNNING: "class:accent",
    Group.CUT_SHORT: "class:bad",
    Group.ENDED: "class:quiet",
}
_MARKS = {Group.NEEDS_YOU: "? ", Group.RUNNING: "● ", Group.CUT_SHORT: "✂ "}
_STANDINGS = {
    Standing.UNMERGED: "class:accent",
    Standing.CONFLICT: "class:warn",
    Standing.UNKNOWN: "class:bad",
}
_FOLDER, _MODEL, _AGE, _COST, _CONTEXT = 20, 18, 10, 7, 9


def draw_row(row: BoardRow, width: int, now: float) -> list[Fragments]:
    """Draw a task: its title with its facts, and below them what it does or waits for, unless it is done well."""
    style = STYLES[row.group]
    mark = _MARKS.get(row.group, "✓ " if row.is_good else "■ ")
    name = f"↳ {row.title}" if row.parent else row.title
    says = row.reply if row.group is Group.RUNNING and not row.after else ""
    activity: Fragments = [(style, cut_line(f"  {row.activity}", width - 1))]
    if says and cell_len(row.activity) + 8 < width:
        activity.append(("class:quiet", cut_line(f" · {says}", width - cell_len(row.activity) - 4)))
    below = [activity] if row.group is not Group.ENDED or row.process or not row.is_good else []
    if row.work:
        standing = cut_line(f"  ⎇ {row.worktree}: {row.work.text}", width - 1)
        below.append([(_STANDINGS.get(row.work.standing, "class:quiet"), standing)])
    facts = _list_facts(row, now)
    if width < NARROW:
        folder, model, age, cost, context = (text for text, _, _ in facts)
        known = " · ".join(text for text in (age, context, cost, model, folder) if text != UNKNOWN)
        head: Fragments = [(style, mark), ("class:title", cut_line(name, width - 3))]
        return [head, *below, [("class:quiet", f"  {cut_line(known, width - 3)}")]]
    room = width - sum(size + 2 for _, size, _ in facts) - 2
    title = cut_line(name, room)
    line: Fragments = [(style, mark), ("class:title", title), ("", " " * (room - cell_len(title)))]
    for text, size, fact_style in facts:
        shown = cut_line(text, size)
        line.append((fact_style, "  " + shown + " " * (size - cell_len(shown))))
    return [line, *below]


def _list_facts(row: BoardRow, now: float) -> list[tuple[str, int, str]]:
    """Folder, model, age, cost and the rest of the context, each with its columns and style."""
    left = row.context
    is_short = left is not None and left < LITTLE_LEFT
    place = f"{row.repository} ⎇ {row.worktree}".lstrip() if row.worktree else shorten_folder(row.folder, _FOLDER)
    return [
        (place, _FOLDER, "class:quiet"),
        (row.model, _MODEL, "class:quiet"),
        (format_age(row.changed_at, now).removesuffix(" ago"), _AGE, "class:quiet"),
        (row.cost, _COST, "class:quiet"),
        (UNKNOWN if left is None else f"{left}% left", _CONTEXT, "class:warn" if is_short else "class:quiet"),
    ]
