"""`halo tasks delete` and `undelete`: the trash."""

import argparse

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.relative_time import parse_since
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.figures import format_size, format_time
from halocline.surfaces.terminal.drawing.table import entry
from halocline.surfaces.terminal.drawing.task_line import task_line


def delete_tasks(client: Client, arguments: argparse.Namespace) -> None:
    """Delete tasks after confirmation; several are listed first."""
    chosen = _to_delete(client, arguments)
    if not chosen:
        print("No tasks are that old.")
        return
    if len(chosen) > 1:
        for info in chosen:
            print(task_line(info, TaskQuery()))
        print(f"{len(chosen)} tasks, {format_size(sum(info.size for info in chosen))}.")
    what = f"{len(chosen)} tasks" if len(chosen) > 1 else f"task {chosen[0].task}"
    if not arguments.yes and not ask_yes_no(f"Move {what} to the trash?"):
        raise UsageError("Nothing was deleted.", "To delete without confirmation: --yes")
    for info in chosen:
        client.tasks.delete(info.task)
    undo = f"halo tasks undelete {chosen[0].task if len(chosen) == 1 else 'ID'}"
    print(f"Deleted {what.removeprefix('task ')}. To undo within {client.tasks.days} days: {undo}")


def _to_delete(client: Client, arguments: argparse.Namespace) -> list[TaskInfo]:
    """Select the tasks to delete. Raises UsageError, TaskNotFound."""
    if arguments.id and arguments.older:
        raise UsageError(
            "Name the tasks to delete, or their age, not both.", "Use: halo tasks delete ID …, or --older 30d"
        )
    if arguments.older:
        before = parse_since(arguments.older)
        return [info for info in client.tasks.search() if info.changed_at < before and not info.favourite]
    named = dict.fromkeys(map(client.find, arguments.id or [pickers.task_picker.choose_task(client)]))
    infos = {info.task: info for info in client.tasks.search()}
    return [infos.get(task) or client.tasks.info(task) or _unreadable_task(task) for task in named]


def _unreadable_task(task: str) -> TaskInfo:
    return TaskInfo(task, "", "", "", 0.0, 0.0, "unreadable", 0)


def undelete_task(client: Client, arguments: argparse.Namespace) -> None:
    if arguments.id:
        print(f"Restored {client.tasks.undelete(arguments.id)}.")
        return
    deleted = client.tasks.deleted()
    for info, at in deleted:
        print(entry(info.task, f"deleted {format_time(at)}", text=info.name or info.title))
    if not deleted:
        print("The trash is empty.")
