"""Reverts one reviewed change, or applies it again."""

import asyncio
from pathlib import Path

from halocline.client.history import HunkReversal, revert_hunk
from halocline.surfaces.web.handlers.handler import OfTask, action
from halocline.surfaces.web.open_tasks import OpenTasks


class OfChange(OfTask, frozen=True):
    """Hunks of a file's diff, as `compare` returned it."""

    path: str
    diff: str
    status: str = "changed"
    back: bool = True


@action("revert")
async def revert_hunks(tasks: OpenTasks, which: OfChange) -> bool:
    """Revert hunks of a file, or apply them again (`back` false); refused unless exact."""
    state = await asyncio.to_thread(tasks.state, tasks.known(which.task))
    await revert_hunk(
        Path(state.workspace), HunkReversal(which.path, which.diff, which.status, which.back), state.roots
    )
    return True
