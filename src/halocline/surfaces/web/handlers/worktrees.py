"""The worktree of a task: what it has, merging that, undoing a merge, and discarding it.

A page names a task, never a folder. The service that the command line uses does it.
"""

from halocline.client.history import FileDifference
from halocline.client.worktrees import Choice, WorktreeMerge, WorktreeWork
from halocline.protocol.values import Value
from halocline.surfaces import worktree_text
from halocline.surfaces.board.worktrees import (
    WorktreeState,
    describe_loss,
    describe_state,
    discard_worktree,
    open_worktrees,
)
from halocline.surfaces.web.handlers.handler import OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class WorktreeReport(Value, frozen=True, omit_defaults=False):
    """A worktree, its files, what a merge would do now, and what a discard removes (`loss`, all of it `left`)."""

    state: WorktreeState
    folder: str
    main: str
    files: tuple[FileDifference, ...]
    merge: WorktreeMerge
    loss: tuple[str, ...]
    left: tuple[str, ...]


class WorktreeMergeRequest(OfTask, frozen=True):
    """`only` merges no other files than these; `guarded` also what an edit would ask about.

    `seen` are the versions of the conflicts that the page showed: the choice is about no others.
    """

    choice: Choice = Choice.NONE
    only: tuple[str, ...] = ()
    guarded: bool = False
    seen: tuple[str, ...] = ()


class WorktreeDiscard(OfTask, frozen=True):
    """`left` is what was shown to the user as not merged."""

    left: tuple[str, ...] = ()


@query("worktree")
async def read_worktree(tasks: OpenTasks, which: OfTask) -> WorktreeReport:
    """Return what the worktree of a task has, and what a merge would do."""
    service, name = await open_worktrees(tasks.client, tasks.workspace(tasks.known(which.task)))
    seen = await service.preview(name)
    worktree = seen.work.worktree
    loss, left = tuple(describe_loss(seen.work)), seen.work.left
    places = str(worktree.folder), str(worktree.main)
    return WorktreeReport(describe_state(seen), *places, seen.changes.files, seen.merge, loss, left)


@action("worktree_merge")
async def merge_worktree(tasks: OpenTasks, which: WorktreeMergeRequest) -> tuple[str, ...]:
    """Merge a task's worktree into the files of the main folder, without a commit; return what happened, in lines."""
    service, name = await open_worktrees(tasks.client, tasks.workspace(tasks.known(which.task)))
    done = await service.merge(name, which.choice, only=which.only, guarded=which.guarded, seen=which.seen)
    tasks.board_feed.look_again()
    return tuple(worktree_text.describe_merge(name, done))


@action("worktree_undo")
async def undo_merge(tasks: OpenTasks, which: OfTask) -> tuple[str, ...]:
    """Undo the last merge of a task's worktree; what was changed since stays."""
    service, name = await open_worktrees(tasks.client, tasks.workspace(tasks.known(which.task)))
    undone = await service.undo(name)
    tasks.board_feed.look_again()
    return tuple(worktree_text.describe_undone(undone))


@action("worktree_discard")
async def discard(tasks: OpenTasks, which: WorktreeDiscard) -> tuple[str, ...]:
    """Remove a task's worktree; refused if more than was shown is not merged."""
    service, name = await open_worktrees(tasks.client, tasks.workspace(tasks.known(which.task)))
    work = await service.work(name)
    for task, is_open in service.find_tasks(WorktreeWork(work.worktree)).items():
        if is_open:
            await tasks.let_go(task)
    gone = await discard_worktree(service, name, which.left)
    tasks.board_feed.look_again()
    return tuple(worktree_text.describe_discarded(gone))
