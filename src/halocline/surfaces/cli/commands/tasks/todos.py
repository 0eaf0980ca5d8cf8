"""`halo todos`: show the to-do list of a task, and the file to edit it in."""

import argparse
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.events import TodosChanged
from halocline.protocol.kinds import Todo
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.state.file_knowledge import TODO_FILE
from halocline.protocol.state.todo_markdown import count_done, to_markdown
from halocline.protocol.values import Value
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.sanitize import clean


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    print(
        clean(
            describe_todos(todos_of(client, arguments.task or _newest_task(client, str(workspace_of(arguments.cwd)))))
        )
    )
    return 0


def _newest_task(client: Client, workspace: str) -> str:
    found = next((info.task for info in client.tasks.search(TaskQuery(workspace=workspace, limit=1))), "")
    if not found:
        raise UsageError(f"No task in {workspace}.", "Name one. To list them: halo tasks list --all")
    return found


class Todos(Value, frozen=True):
    """A task's list, and the Markdown file for editing it."""

    todos: tuple[Todo, ...]
    file: Path


def todos_of(client: Client, task: str) -> Todos:
    """Read the list from the task's log. Raises TaskNotFound and UsageError."""
    name = client.find(task)
    lists = [event.todos for event in client.past(name) if isinstance(event, TodosChanged)]
    return Todos(lists[-1] if lists else (), client.home.task(name) / TODO_FILE)


def describe_todos(found: Todos) -> str:
    """Describe the list: progress, items as Markdown, and the file to edit."""
    if not found.todos:
        return "No to-do list."
    head = f"{count_done(found.todos)} of {len(found.todos)} done."
    return f"{head}\n{to_markdown(found.todos)}To edit it: {found.file}"
