"""The end of a run: the tasks write their last events, and an empty task is deleted."""

from contextlib import suppress

from halocline.client.tasks import Client
from halocline.protocol.errors import TaskBusy
from halocline.protocol.values import Value
from halocline.protocol.waiting import wait_at_most
from halocline.surfaces.cli.stderr import describe_left, print_message

CLOSING_TIME = 5.0
"""Seconds that a task gets to write its last events when the program quits."""


class LastTask(Value, frozen=True):
    """The task at the end of a run, the process that continues it, and True if it is empty and ours.

    `server` is as in `ModelState`.
    """

    name: str
    writer: str
    is_empty: bool
    server: str


def describe_last(client: Client, task: str) -> LastTask:
    """Read the state of the last task, which is gone once the client is closed."""
    is_elsewhere = client.is_attached(task)
    writer = client.tasks.writer(task) if is_elsewhere else ""
    state = client.state(task)
    return LastTask(task, writer, not is_elsewhere and state.is_empty, state.model.server)


async def close_client(client: Client) -> None:
    """Let the tasks write their last events, for a bounded time. Raises the error that broke a task."""
    await wait_at_most(CLOSING_TIME, client.close())


def finish_run(client: Client, last: LastTask, *, stays: bool = False, is_moved: bool = False) -> None:
    """Name the process that continues the task, or delete a task in which nothing happened.

    After a conversation that `stays`, tell how to return to it, and to its server if that `is_moved` by a flag.
    """
    if last.writer:
        print_message(describe_left(last.name, last.writer))
    if last.is_empty:
        with suppress(TaskBusy):  # a peer that joined continues it
            client.tasks.forget(last.name)
    elif stays and not last.writer:
        server = f" --base-url {last.server}" if is_moved and last.server else ""
        print(f"Resume this task with: halo -r {last.name}{server}")
