"""A task chosen from a list, where a command needs one and none was named."""

from collections.abc import Sequence

from halocline.client import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.cli.input.plain_questions import on_terminal, pick_option
from halocline.surfaces.cli.output.table import entry
from halocline.surfaces.figures import format_time

LISTED = 15


def pick_task(client: Client, folder: str) -> str:
    """Ask which task of the folder to resume. Raises UsageError."""
    found = [info for info in client.tasks.search() if not info.parent and folder in (info.workspace, *info.roots)]
    return _pick_one("Which task?", found, f"No tasks in {folder}.", "halo -r ID")


def pick_running_task(client: Client) -> str:
    """Ask which of the tasks that other processes run to join. Raises UsageError."""
    found = [info for info in client.tasks.search() if client.tasks.writer(info.task)]
    return _pick_one("Which task?", found, "No other process runs a task.", "halo attach ID")


def _pick_one(question: str, tasks: Sequence[TaskInfo], none: str, hint: str) -> str:
    if not tasks:
        raise UsageError(none, "To list all tasks: halo tasks list --all")
    if not on_terminal():
        raise UsageError("Name a task: nobody can be asked here.", hint)
    listed = tasks[:LISTED]
    options = {
        str(number): entry(info.task, format_time(info.changed_at), text=info.name or info.title)
        for number, info in enumerate(listed, 1)
    }
    picked = pick_option(question, options, [info.task for info in listed])
    return listed[int(picked) - 1].task if picked in options else picked
