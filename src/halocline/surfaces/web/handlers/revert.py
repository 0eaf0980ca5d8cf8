"""One change that a person looked at, taken back or made again."""

import asyncio
from pathlib import Path

from halocline.runtime.history.revert_hunk import Swap, revert_hunk
from halocline.surfaces.web.handlers.route import OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks


class OfChange(OfTask, frozen=True):
    """Hunks of a file's diff, as `compare` gave it."""

    path: str
    diff: str
    status: str = "changed"
    back: bool = True


async def revert_hunks(desk: OpenTasks, which: OfChange) -> bool:
    """Take hunks of a file back, or put them in again (`back` false); refused where that is not possible exactly."""
    state = await asyncio.to_thread(desk.state, desk.known(which.task))
    await revert_hunk(Path(state.workspace), Swap(which.path, which.diff, which.status, which.back), state.roots)
    return True


ACTIONS: Rows = {"revert": Row(OfChange, revert_hunks)}
