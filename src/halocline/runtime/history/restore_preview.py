"""The effect of a restore before anyone confirms it: a rewind to a point, and the checkpoint that `/undo` restores.

Queries: nothing is changed.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.checkpoints.restore.restore import RestorePlan
from halocline.checkpoints.saved import CheckpointInfo
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent, ToolCallStarted
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import AssistantMessage, UserMessage
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.runtime.history.actions import TaskHistory


class RestorePreview(Value, frozen=True, omit_defaults=False):
    """Effect of a rewind. `plan` is for the files; if it is None, `unsaved` says why they cannot be restored.

    `messages` counts the prompts and replies that the model would no longer see. `commands` ran since then, oldest
    first: their effects outside the files stay.
    """

    plan: RestorePlan | None
    unsaved: str
    messages: int
    commands: tuple[str, ...]


async def preview_restore(
    time: "TaskHistory", past: Sequence[DurableEvent], task: str, to: int, *, overwrite: bool
) -> RestorePreview:
    """Return what a rewind to just after event `to` would do now. Raises UsageError and HaloclineError."""
    then = time.at(task, to)
    plan, unsaved = None, ""
    try:
        plan = await time.plan(Path(then.state.workspace), f"{task}@{to}", overwrite=overwrite)
    except UsageError as error:
        unsaved = error.text
    lost = fold_events(past).messages[len(then.state.messages) :]
    messages = sum(isinstance(message, UserMessage | AssistantMessage) for message in lost)
    return RestorePreview(plan, unsaved, messages, tuple(_list_commands(past, to)))


def _list_commands(past: Sequence[DurableEvent], since: int) -> list[str]:
    return [
        event.title
        for event in past
        if isinstance(event, ToolCallStarted) and event.seq > since and event.kind is ToolKind.EXECUTE
    ]


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
            held = held or (Step(info, plan) if plan.doubtful or plan.conflicts or plan.left_out else None)
        elif is_behind:
            return Step(info, plan)
        newest = newest or Step(info, plan)
    return held if is_behind else newest
