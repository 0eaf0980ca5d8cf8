"""Runs the board, and prints into the scrollback what should stay."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from halocline.client import Client
from halocline.protocol.queries.tasks import TaskQuery
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.output.line_mode import LineMode
from halocline.surfaces.cli.output.task_line import task_line
from halocline.surfaces.cli.session.closing import CLOSING_TIME
from halocline.surfaces.tui.board_app import BoardApp

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LISTED = 20
"""Most tasks that are listed at the end."""


async def run_board(client: Client) -> int:
    """Show the board until the person leaves, and return the exit code."""
    app = BoardApp(client)
    try:
        with _handle_signals(app):
            await app.run_async(mouse=False)
    finally:
        if app.tasks:
            await app.tasks.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_TIME):
                await client.close(leave_questions=True)
    if app.broke:
        raise app.broke
    _print_rest(client, app.opened)
    return ExitCode.INTERRUPTED if app.signal else ExitCode.FINISHED


@contextmanager
def _handle_signals(app: BoardApp) -> Iterator[None]:
    """End the board by a signal as by its key, so that the terminal is restored."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, app.end_by, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _print_rest(client: Client, opened: str) -> None:
    """Print the transcript of the opened task, or a line for each of the latest tasks."""
    if opened:
        view = LineMode(attended=False)
        for event in client.past(opened):
            view.show(event)
        view.close()
        print(f"Resume this task with: halo -r {opened}")
        return
    for info in client.tasks.search(TaskQuery(limit=LISTED)):
        print(task_line(info, TaskQuery()))
