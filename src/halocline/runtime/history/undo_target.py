"""Which saved state of a task's files is the one before: what `/undo` goes back to."""

from collections.abc import Awaitable, Callable

from halocline.checkpoints.restore.restore import RestorePlan
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store.repository import CheckpointInfo
from halocline.protocol.values import Value

OLDEST = 50
"""Checkpoints that are looked back over."""
Checkpoint = CheckpointInfo
Plan = RestorePlan
"""What surfaces show."""


class Step(Value, frozen=True):
    """One state to go back to, and what that would do."""

    to: CheckpointInfo
    plan: RestorePlan


async def newest_first(store: ShadowGit, task: str) -> list[CheckpointInfo]:
    """The checkpoints of a task."""
    return sorted(await store.list(task), key=lambda info: info.n, reverse=True)


async def step_back(store: ShadowGit, task: str, planned: Callable[[str], Awaitable[RestorePlan]]) -> Step | None:
    """The newest state that is older than the one the files are in now, and differs from it; None when there is none.

    Files that are like no saved state were changed by somebody else since the last: then that one is it. Where no state
    would change a file, it is the newest of which a file stays that the task may have changed. `planned` says what it
    would do to go back to one, in all folders of the task.
    """
    newest: Step | None = None
    held: Step | None = None
    is_behind = False
    for info in (await newest_first(store, task))[:OLDEST]:
        plan = await planned(f"{task}/{info.n}")
        if not plan.changes:
            is_behind = True
            held = held or (Step(info, plan) if plan.doubtful or plan.conflicts else None)
        elif is_behind:
            return Step(info, plan)
        newest = newest or Step(info, plan)
    return held if is_behind else newest
