"""A task chosen from a list, where a command needs one and none was named."""

import time
from collections.abc import Sequence

from halocline.client import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.cli.input.plain_questions import on_terminal, pick_option
from halocline.surfaces.cli.output.table import entry
from halocline.surfaces.figures import format_age
from halocline.surfaces.sanitize import clean

LISTED = 15


def pick_task(client: Client, folder: str) -> str:
    """Ask which task of the folder to resume. Raises UsageError."""
    found = [info for info in client.tasks.search() if not info.parent and folder in (info.workspace, *info.roots)]
    if not found:
        raise UsageError(f"No task to resume in {folder}.", 'Start one: halo "what to do"')
    return _pick_one(found, "Which task? Add its ID to --resume.")


def pick_running_task(client: Client) -> str:
    """Ask which of the tasks that other processes run to join. Raises UsageError."""
    found = [info for info in client.tasks.search() if client.tasks.writer(info.task)]
    if not found:
        raise UsageError("No task is open in another process.", "See all tasks: halo tasks list --all")
    return _pick_one(found, "Which task? These are open:")


def _pick_one(tasks: Sequence[TaskInfo], unasked: str) -> str:
    """Ask; where nobody can be asked, raise UsageError with the list."""
    listed = tasks[:LISTED]
    if not on_terminal():
        raise UsageError(unasked, "\n      ".join(f"{one.task}  {clean(one.name or one.title)[:80]}" for one in listed))
    options = {
        str(number): entry(info.task, f"{format_age(info.changed_at, time.time()):<10}", text=info.name or info.title)
        for number, info in enumerate(listed, 1)
    }
    picked = pick_option("Which task?", options, [info.task for info in listed])
    return listed[int(picked) - 1].task if picked in options else picked
