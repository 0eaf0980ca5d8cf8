"""The board of all tasks: its rows as they change, and stopping and resuming a task wherever it runs."""

from halocline.protocol.values import Value
from halocline.surfaces.board.actions import resume_task, stop_task
from halocline.surfaces.web.board_feed import BoardAnswer
from halocline.surfaces.web.handlers.handler import OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class KnownBoard(Value, frozen=True):
    """The revision that the page knows; 0 for none."""

    revision: int = 0


@query("board")
async def follow_board(tasks: OpenTasks, which: KnownBoard) -> BoardAnswer:
    """Return all tasks as the board shows them, once that differs from what the page knows."""
    return await tasks.board_feed.next_answer(which.revision)


@action("resume")
async def resume_in_background(tasks: OpenTasks, which: OfTask) -> bool:
    """Have the background process take up a task that no process runs."""
    await resume_task(tasks.client, tasks.known(which.task))
    return True


@action("stop")
async def stop_anywhere(tasks: OpenTasks, which: OfTask) -> bool:
    """Stop a task's turn, or its wait for other tasks, whichever process runs it."""
    await stop_task(tasks.client, tasks.known(which.task))
    return True
