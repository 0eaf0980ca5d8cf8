"""What a person may do with a task's past: look at a moment, compare two, go back to one, or go on as another task.

A moment is `TASK@EVENT`; where files are meant, a checkpoint's name will do as well.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.restore.compare import Comparison as Comparison, FileDifference as FileDifference
from halocline.checkpoints.restore.restore import Restored as Restored, RestorePlan as RestorePlan
from halocline.checkpoints.shadow_git import BY_HAND, Others
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, TaskBusy, TaskNotFound, UsageError
from halocline.protocol.state.reducer import fold_events
from halocline.runtime.history.forks import Fork, fork_of
from halocline.runtime.history.rewind import (
    Stores,
    at_rest,
    event_of,
    in_nobodys_hands,
    others_of,
    restore_event,
    rewind_task,
)
from halocline.runtime.history.snapshots import (
    Point,
    Snapshot,
    checkpoint_at,
    checkpoints_elsewhere,
    find_checkpoints_elsewhere,
    find_place,
    last_completion,
    list_points,
    take_snapshot,
)
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.task.log import read_log
from halocline.task.task import Task

Running = Callable[[], Mapping[str, Task]]


class TaskHistory:
    """`running` are the tasks that are open here; `stores` gives the checkpoints of a workspace, counted as a task's.

    `settle` is called with an open task's name once it went back: its mode may be another one.
    """

    def __init__(self, home: Home, running: Running, stores: Stores, settle: Callable[[str], None]) -> None:
        self._home = home
        self._running = running
        self._stores = stores
        self._settle = settle

    def past(self, task: str) -> list[ev.DurableEvent]:
        """All that was written of a task. Raises TaskNotFound and UsageError."""
        return list(read_log(self._home.log(self._find(task))))

    def at(self, task: str, seq: int) -> Snapshot:
        """A task as it was after event `seq`. Raises TaskNotFound and UsageError."""
        return take_snapshot(self.past(task), seq)

    def points(self, task: str) -> tuple[Point, ...]:
        """Where one might want to go back to."""
        return tuple(list_points(self.past(task)))

    def since(self, task: str, *, completion: bool) -> str:
        """The moment at which the newest turn began, or the task did."""
        return f"{self._find(task)}@{last_completion(self.past(task)) if completion else 1}"

    async def compare(self, workspace: Path, old: str, new: str = "") -> Comparison:
        """What differs between two moments or checkpoints; without `new`, from `old` to the files as they are."""
        store = self._stores(workspace, BY_HAND)
        found = await store.compare(self._checkpoint(old), self._checkpoint(new) if new else None)
        _, others, _ = await self._elsewhere(workspace, old)
        later = {str(other.workspace): sha for other, sha in (await self._elsewhere(workspace, new))[1]} if new else {}
        for other, sha in others:
            root = str(other.workspace)
            more = await other.compare(sha, later.get(root), root)
            found = Comparison((*found.files, *more.files))
        return found

    async def plan(self, workspace: Path, target: str, *, overwrite: bool = False) -> RestorePlan:
        """What `restore` would do now."""
        if (to := self._unsaved(target)) is not None:
            from halocline.runtime.history.revert_edits import plan_revert

            return plan_revert(self.past(target.partition("@")[0]), to)
        task, others, lost = await self._elsewhere(workspace, target)
        plan = await self._stores(workspace, task).plan(self._checkpoint(target), others, overwrite=overwrite)
        return replace(plan, kept=(*plan.kept, *lost))

    async def restore(
        self, workspace: Path, target: str, *, overwrite: bool = False, conversation: bool = False
    ) -> Restored:
        """Put files back; the log of their task says so, unless it is gone or open elsewhere.

        With `conversation` that goes back as well, and a task that is open elsewhere is not touched at all.

        Raises:
            UsageError, TaskNotFound, TaskBusy, HaloclineError
        """
        if (to := self._unsaved(target)) is not None:
            wish = cmd.GoBack(task=target.partition("@")[0], to=to, conversation=conversation)
            done = await self.go_back(wish)
            assert done is not None
            return done
        sha = self._checkpoint(target)
        if conversation:
            return await self._restore_both(workspace, target, sha, overwrite=overwrite)
        task, others, lost = await self._elsewhere(workspace, target)
        restored = await self._stores(workspace, task).restore(sha, others, overwrite=overwrite)
        restored = replace(restored, kept=(*restored.kept, *lost))
        with suppress(TaskNotFound, TaskBusy):
            await self._note(self._find(task), restore_event(restored, tell=True))
        return restored

    async def _restore_both(self, workspace: Path, target: str, sha: str, *, overwrite: bool) -> Restored:
        task, _, seq = target.partition("@")
        if not seq:
            task = await self._owner(workspace, target)
            found = [info.sha for info in await self._stores(workspace, BY_HAND).list() if info.is_named(target)]
            seq = str(event_of(self.past(task), found[0] if found else sha))
        done = await self.go_back(cmd.GoBack(task=task, to=int(seq), overwrite=overwrite), sha)
        assert done is not None
        return done

    async def go_back(self, wish: cmd.GoBack, checkpoint: str = "") -> Restored | None:
        """Take a task back, its files to this checkpoint or the moment's; one that is open here is interrupted first.

        Raises:
            UsageError, TaskNotFound, TaskBusy, HaloclineError
        """
        name = self._find(wish.task)
        log = self._home.log(name)
        if task := self._running().get(name):
            await at_rest(task)
            done = await rewind_task(log, wish, self._stores, self._home, task.emit, checkpoint)
            self._settle(name)
            return done
        async with in_nobodys_hands(log.parent, name) as held:
            return await rewind_task(log, wish, self._stores, self._home, held.append, checkpoint)

    async def fork(self, fork: Fork, folder: Path | None = None, *, worktree: bool = False) -> str:
        """Begin a task with another one's past, and give its id; with `folder`, the files as they were are put there.

        With `worktree` it becomes one of the project's git, at the commit that is checked out now.

        Raises:
            UsageError, TaskNotFound, HaloclineError
        """
        source = self._find(fork.source)
        past = self.past(source)
        at = fork.at or past[-1].seq
        then = take_snapshot(past, at)
        name = fork.name or history.new_task_id()
        store = self._stores(Path(then.state.workspace), name)
        if folder is not None:
            if not then.checkpoint:
                raise UsageError(f"The files were not saved at event {at}.", "Fork without --files.")
            if worktree:
                from halocline.git.worktrees import add_worktree

                await add_worktree(Path(then.state.workspace), folder)
            await store.export(then.checkpoint, folder)
        # Said first, so that the fork is the newest task of its folder.
        with suppress(TaskBusy):
            await self._note(source, ev.TaskForked(to=name, point=at))
        chosen = Fork(name, source, at, fork.model, str(folder) if folder else "")
        fork_of(then.events, chosen, self._home.task(name))
        if then.checkpoint and folder is None:
            await store.adopt(then.checkpoint)
        # The further folders are the same ones, whatever became of the first.
        there, _ = await others_of(
            then.state, checkpoints_elsewhere(past, at), lambda root, _: self._stores(root, name)
        )
        for other, sha in there:
            await other.adopt(sha)
        return name

    async def _note(self, name: str, event: ev.DurableEvent) -> None:
        if task := self._running().get(name):
            task.emit(event)
            return
        async with in_nobodys_hands(self._home.task(name), name) as log:
            log.append(event)

    async def _owner(self, workspace: Path, target: str) -> str:
        """The task that a moment or a checkpoint is of."""
        task, is_moment, _ = target.partition("@")
        if is_moment:
            return self._find(task)
        infos = await self._stores(workspace, BY_HAND).list()
        return next((info.task for info in infos if info.is_named(target)), BY_HAND)

    async def _elsewhere(self, workspace: Path, target: str) -> tuple[str, Others, tuple[str, ...]]:
        """The task that a moment or a checkpoint is of, and as `others_of` says what it is in its further folders."""
        task, _, seq = target.partition("@")
        if seq:
            past = self.past(task)
            state, found = fold_events(past), checkpoints_elsewhere(past, int(seq))
            return self._find(task), *await others_of(state, found, self._stores)
        infos = await self._stores(workspace, BY_HAND).list()
        info = next((info for info in infos if info.is_named(target)), None)
        if info is None:
            return BY_HAND, (), ()
        try:
            past = self.past(info.task)
        except HaloclineError:  # its log is gone, or damaged: the checkpoint of the folder is there all the same
            return info.task, (), ()
        return info.task, *await others_of(fold_events(past), find_checkpoints_elsewhere(past, info.sha), self._stores)

    def _unsaved(self, target: str) -> int | None:
        """The event of a moment of which there is no checkpoint: what is left is to take the edits since back."""
        task, _, seq = target.partition("@")
        if not seq.isdecimal():
            return None
        past = self.past(task)
        find_place(past, int(seq))
        return None if checkpoint_at(past, int(seq)) else int(seq)

    def _checkpoint(self, name: str) -> str:
        """The checkpoint that a person names: by itself, or as `TASK@EVENT`. Raises UsageError and TaskNotFound."""
        task, is_moment, seq = name.partition("@")
        if not is_moment:
            return name
        if not seq.isdecimal():
            raise UsageError(f"{name!r} names no moment.", "Write TASK@EVENT, with the number of an event.")
        past = self.past(task)
        find_place(past, int(seq))
        if found := checkpoint_at(past, int(seq)):
            return found
        raise UsageError(f"The files were not saved at {name}.", f"List points: halo tasks show {task} --points")

    def _find(self, task: str) -> str:
        return history.find_task(self._home.tasks, task)
