"""`halo todos`: show the to-do list of a task, and the file to edit it in."""

import argparse

from halocline.client import Choices, Client, open_client
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.sanitize import clean
from halocline.surfaces.todos import describe_todos, todos_of


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    print(
        clean(
            describe_todos(todos_of(client, arguments.task or _newest_task(client, str(workspace_of(arguments.cwd)))))
        )
    )
    return 0


def _newest_task(client: Client, workspace: str) -> str:
    found = next((info.task for info in client.tasks.search() if info.workspace == workspace), "")
    if not found:
        raise UsageError(f"No task in {workspace}.", "Name one. To list them: halo tasks list --all")
    return found
