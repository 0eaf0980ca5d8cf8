"""Find the checkpoint that `/undo` restores: the newest state before the current one."""

from collections.abc import Awaitable, Callable

from halocline.checkpoints.restore.restore import RestorePlan
from halocline.checkpoints.saved import CheckpointInfo
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol.values import Value

OLDEST = 50
"""Checkpoints to search at most."""
Checkpoint = CheckpointInfo
"""Types that surfaces show."""


class Step(Value, frozen=True):
    """One checkpoint to restore, and what that would do."""

    to: CheckpointInfo
    plan: RestorePlan


async def list_newest_first(store: ShadowGit, task: str) -> list[CheckpointInfo]:
    """Return the checkpoints of a task, newest first."""
    return sorted(await store.list(task), key=lambda info: info.n, reverse=True)


async def find_undo_target(
    store: ShadowGit, task: str, planned: Callable[[str], Awaitable[RestorePlan]]
) -> Step | None:
    """Return the newest checkpoint that is older than the current state of the files and differs from it, or None.

    If the files match no checkpoint, they changed since the last one: return that one. If no checkpoint would change a
    file, return the newest one that leaves a file alone which the task may have changed. `planned` returns what a
    restore would do in all folders of the task.
    """
    newest: Step | None = None
    held: Step | None = None
    is_behind = False
    for info in (await list_newest_first(store, task))[:OLDEST]:
        plan = await planned(f"{task}/{info.n}")
        if not plan.changes:
            is_behind = True
            held = held or (Step(info, plan) if plan.doubtful or plan.conflicts else None)
        elif is_behind:
            return Step(info, plan)
        newest = newest or Step(info, plan)
    return held if is_behind else newest
