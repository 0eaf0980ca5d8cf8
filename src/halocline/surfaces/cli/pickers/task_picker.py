"""A task picked from a list, where a command needs one and none was named.

A terminal that can draw gets a list with keys, another one numbered lines; where no one can be asked, the tasks are
named in the error.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.pickers.list_picker import pick_entry
from halocline.surfaces.cli.plain.questions import can_draw, on_terminal, pick_option
from halocline.surfaces.figures import STATUSES, format_age
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.application.choice_list import PickerEntry
from halocline.surfaces.terminal.application.status_bar import shorten_folder
from halocline.surfaces.terminal.drawing.table import entry
from halocline.surfaces.terminal.drawing.task_line import NEEDS_YOU

LISTED = 15
"""Most tasks of the lists without keys."""
QUESTION = "Which task?"
START = 'Start one: halo "what to do"'


def pick_task(client: Client, workspace: Path, *, plain: bool = False) -> str:
    """Ask which task to resume: of this folder, and where there are keys also of others. Raises UsageError.

    With `plain`, the list has no keys.
    """
    folder = str(workspace)
    tasks = _list_from_here(client, folder)
    can_pick = on_terminal() and can_draw(plain=plain)
    if not can_pick:
        tasks = [info for info in tasks if _is_of_folder(info, folder)]
    if not tasks:
        raise UsageError(f"No task to resume in {folder}.", START)
    return _pick_one(client, tasks, f"{QUESTION} Add its ID to --resume.", plain=plain)


def pick_running_task(client: Client, *, plain: bool = False) -> str:
    """Ask which of the tasks that other processes run to join. Raises UsageError."""
    tasks = [info for info in client.tasks.search() if client.tasks.writer(info.task)]
    if not tasks:
        raise UsageError("No task is open in another process.", "See all tasks: halo tasks list --all")
    return _pick_one(client, tasks, f"{QUESTION} These are open:", plain=plain)


def choose_task(client: Client, named: str = "") -> str:
    """Return the task that a command is about; without a name, ask. Raises UsageError, TaskNotFound."""
    if named:
        return client.find(named)
    if tasks := _list_from_here(client, str(workspace_of("."))):
        return _pick_one(client, tasks, f"{QUESTION} Add its ID to the command.")
    raise UsageError("There are no tasks yet.", START)


def _list_from_here(client: Client, folder: str) -> list[TaskInfo]:
    """List the tasks of a folder, newest first, then those of other folders."""
    tasks = [info for info in client.tasks.search() if not info.parent]
    return sorted(tasks, key=lambda info: not _is_of_folder(info, folder))


def _is_of_folder(info: TaskInfo, folder: str) -> bool:
    return folder in (info.workspace, *info.roots)


def _pick_one(client: Client, tasks: Sequence[TaskInfo], unasked: str, *, plain: bool = False) -> str:
    """Ask; where no one can be asked, raise UsageError with the list."""
    if not on_terminal():
        listed = [f"{one.task}  {clean(one.name or one.title)[:80]}" for one in tasks[:LISTED]]
        raise UsageError(unasked, "\n      ".join(listed))
    if not can_draw(plain=plain):
        return _pick_number(tasks[:LISTED])
    return pick_entry(QUESTION, _build_entries(client, tasks), client.own_theme)


def _build_entries(client: Client, tasks: Sequence[TaskInfo]) -> list[PickerEntry]:
    """Each task with its state, age and folder."""
    running, waiting, now = client.tasks.list_open(), client.tasks.list_waiting(), time.time()
    entries = []
    for info in tasks:
        state = NEEDS_YOU if info.task in waiting else _describe_state(info, is_open=info.task in running)
        facts = (state, format_age(info.changed_at, now), shorten_folder(info.workspace))
        title = " ".join(clean(info.name or info.title).split()) or "(no prompt yet)"
        entries.append(PickerEntry(info.task, title, " · ".join(facts)))
    return entries


def _describe_state(info: TaskInfo, *, is_open: bool) -> str:
    if not is_open:
        return STATUSES.get(info.status, info.status)
    return "running" if info.status == "unfinished" else "open"


def _pick_number(tasks: Sequence[TaskInfo]) -> str:
    options = {
        str(number): entry(info.task, f"{format_age(info.changed_at, time.time()):<10}", text=info.name or info.title)
        for number, info in enumerate(tasks, 1)
    }
    picked = pick_option(QUESTION, options, [info.task for info in tasks])
    return tasks[int(picked) - 1].task if picked in options else picked
