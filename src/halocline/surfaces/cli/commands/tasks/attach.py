"""`halo attach`: watch and drive a task that another process runs."""

import argparse

from halocline.client import Choices, Client, open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskQuery
from halocline.surfaces import event_loop
from halocline.surfaces.cli.commands.task_opening import list_tasks
from halocline.surfaces.cli.input.plain_questions import on_terminal
from halocline.surfaces.cli.output.line_mode import LineMode
from halocline.surfaces.cli.session.join import join_task

LOOKED_AT = 100
"""Tasks among which open ones are looked for, the latest first."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    if not arguments.id:
        raise _explain_missing_id(client)
    view = LineMode(attended=on_terminal() and not arguments.watch)
    return event_loop.run_loop(join_task(client, client.find(arguments.id), view))


def _explain_missing_id(client: Client) -> UsageError:
    """Name the tasks that other processes run."""
    found = client.tasks.search(TaskQuery(limit=LOOKED_AT))
    running = [info for info in found if client.tasks.writer(info.task)]
    if not running:
        return UsageError("No task is open in another process.", "See all tasks: halo tasks list --all")
    return UsageError("Which task? These are open:", list_tasks(running))
