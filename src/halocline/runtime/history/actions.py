"""Actions on a task's past: inspect a point in time, compare two, rewind to one, or fork from one.

A point is written `TASK@EVENT`; for files, a checkpoint's name works as well.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from halocline.checkpoints.restore.compare import Comparison as Comparison, FileDifference as FileDifference
from halocline.checkpoints.restore.restore import Restored as Restored, RestorePlan as RestorePlan
from halocline.checkpoints.shadow_git import BY_HAND, Others
from halocline.files.real_paths import find_real_path
from halocline.git.worktrees import add_worktree
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, TaskBusy, TaskNotFound, UsageError
from halocline.protocol.state.reducer import fold_events
from halocline.runtime.history import rewind, snapshots, unsaved_edits
from halocline.runtime.history.forks import Fork, fork_of
from halocline.runtime.history.losses import explain_loss, find_kept_checkpoint
from halocline.runtime.history.moved_workspace import add_move
from halocline.runtime.history.revert import plan_revert
from halocline.runtime.prompts.expand import require_words
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.store.tasks.renamed import FoldersHere
from halocline.task.log import read_past
from halocline.task.task import Task

Running = Callable[[], Mapping[str, Task]]


class TaskHistory:
    """History of the tasks of a home. `running` returns the tasks open here, `stores` a task's checkpoints of a folder.

    `settle` is called with the id of an open task after a rewind, because its mode may have changed. Tasks whose folder
    was renamed to one of the folders `here` are there.
    """

    def __init__(
        self, home: Home, running: Running, stores: rewind.Stores, settle: Callable[[str], None], here: FoldersHere
    ) -> None:
        self._home = home
        self._running = running
        self._stores = stores
        self._settle = settle
        self._here = here

    def past(self, task: str) -> list[ev.DurableEvent]:
        """Return all events of a task. Raises TaskNotFound and UsageError."""
        whole = self._find(task)
        return list(read_past(self._home.task(whole), whole))

    def at(self, task: str, seq: int) -> snapshots.Snapshot:
        """Return a task as it was after event `seq`. Raises TaskNotFound and UsageError."""
        return snapshots.take_snapshot(self.past(task), seq)

    def points(self, task: str) -> tuple[snapshots.SnapshotPoint, ...]:
        """Return the points worth rewinding to."""
        return tuple(snapshots.list_points(self.past(task)))

    def prompts(self, task: str) -> tuple[snapshots.PastPrompt, ...]:
        """Return the prompts of a task, in order."""
        return tuple(snapshots.list_prompts(self.past(task)))

    def since(self, task: str, *, completion: bool) -> str:
        """Return the point where the previous turn ended, or with `completion` False the start of the task."""
        return f"{self._find(task)}@{snapshots.last_completion(self.past(task)) if completion else 1}"

    async def compare(self, workspace: Path, old: str, new: str = "") -> Comparison:
        """Compare the files at two points or checkpoints; without `new`, compare `old` with the files now."""
        store = self._stores(workspace, BY_HAND)
        with self._telling_of_losses(old, new):
            found = await store.compare(self._checkpoint(old), self._checkpoint(new) if new else None)
        _, others, _ = await self._elsewhere(workspace, old)
        later = {str(other.workspace): sha for other, sha in (await self._elsewhere(workspace, new))[1]} if new else {}
        for other, sha in others:
            root = str(other.workspace)
            more = await other.compare(sha, later.get(root), root)
            found = Comparison((*found.files, *more.files))
        return found

    async def plan(self, workspace: Path, target: str, *, overwrite: bool = False) -> RestorePlan:
        """Return what `restore` would do now."""
        if (to := await asyncio.to_thread(self._event_without_checkpoint, target)) is not None:
            return plan_revert(self.past(target.partition("@")[0]), to)
        task, others, lost = await self._elsewhere(workspace, target)
        with self._telling_of_losses(target):
            plan = await self._stores(workspace, task).plan(self._checkpoint(target), others, overwrite=overwrite)
        edits = await self._find_unsaved(task, target)
        return edits.add_to(plan.adding(kept=lost)) if edits else plan.adding(kept=lost)

    async def restore(
        self, workspace: Path, target: str, *, overwrite: bool = False, conversation: bool = False
    ) -> Restored:
        """Restore files, and record it in the task's log unless that is gone or open elsewhere.

        With `conversation`, rewind it too; a task that is open elsewhere is then not touched at all.

        Raises:
            UsageError, TaskNotFound, TaskBusy, HaloclineError
        """
        if (to := await asyncio.to_thread(self._event_without_checkpoint, target)) is not None:
            done = await self.go_back(cmd.GoBack(task=target.partition("@")[0], to=to, conversation=conversation))
            assert done is not None
            return done
        sha = self._checkpoint(target)
        if conversation:
            return await self._restore_both(workspace, target, sha, overwrite=overwrite)
        task, others, lost = await self._elsewhere(workspace, target)
        edits = await self._find_unsaved(task, target)
        always = bool(edits and edits.reverts)
        store = self._stores(workspace, task)
        with self._telling_of_losses(target):
            restored = await store.restore(sha, others, overwrite=overwrite, always=always)
        restored, changes = restored.adding(kept=lost), list[ev.FileChanged]()
        try:
            if edits:
                restored, changes = await unsaved_edits.revert_unsaved(edits, restored, self._home)
        finally:  # what was restored is told also if the rest fails
            with suppress(TaskNotFound, TaskBusy):
                await self._note(self._find(task), *changes, rewind.restore_event(restored, tell=True))
            store.forget_made()
        return restored

    async def _find_unsaved(self, task: str, target: str) -> unsaved_edits.UnsavedEdits | None:
        """Return the task's edits since a point or a checkpoint that no checkpoint holds; None if its log is gone."""
        try:
            past = add_move(self.past(task), self._here)
        except HaloclineError:
            return None
        seq = target.partition("@")[2]
        if seq:
            point: int | None = int(seq)
        else:
            infos = await self._stores(Path(fold_events(past).workspace), BY_HAND).list()
            sha = next((info.sha for info in infos if info.is_named(target)), target)
            point = unsaved_edits.find_point(past, sha)
        return await asyncio.to_thread(unsaved_edits.find_unsaved_edits, past, point)

    async def _restore_both(self, workspace: Path, target: str, sha: str, *, overwrite: bool) -> Restored:
        task, _, seq = target.partition("@")
        if not seq:
            task = await self._owner(workspace, target)
            found = [info.sha for info in await self._stores(workspace, BY_HAND).list() if info.is_named(target)]
            seq = str(rewind.event_of(self.past(task), found[0] if found else sha))
        done = await self.go_back(cmd.GoBack(task=task, to=int(seq), overwrite=overwrite), sha)
        assert done is not None
        return done

    async def come_to_rest(self, task: str) -> None:
        """Interrupt the turn of a task that is open here, and wait until its last checkpoint is taken."""
        if running := self._running().get(task):
            await rewind.at_rest(running)

    async def go_back(self, request: cmd.GoBack, checkpoint: str = "") -> Restored | None:
        """Rewind a task, its files to this checkpoint or to the point's. A task open here is interrupted first.

        Raises:
            UsageError, TaskNotFound, TaskBusy, HaloclineError
        """
        name = self._find(request.task)
        log = self._home.log(name)
        if task := self._running().get(name):
            await rewind.at_rest(task)
            done = await rewind.rewind_task(log, request, self._stores, self._home, task.emit, checkpoint)
            self._settle(name)
            return done
        async with rewind.in_nobodys_hands(log.parent, name, self._here) as held:
            return await rewind.rewind_task(log, request, self._stores, self._home, held.append, checkpoint)

    async def fork(self, fork: Fork, folder: Path | None = None, *, worktree: bool = False) -> str:
        """Start a task with another one's past and return its id; `folder` receives the files as they were then.

        With `worktree`, the folder becomes a worktree of the project's git at the commit checked out now.

        Raises:
            UsageError, TaskNotFound, HaloclineError
        """
        source = self._find(fork.source)
        if fork.name:
            history.check_new_id(self._home, fork.name)
        past = self.past(source)
        if not past:
            raise UsageError(f"Task {source} cannot be forked: its log is empty.", "See the damage: halo doctor")
        at = fork.at or past[-1].seq
        then = snapshots.take_snapshot(past, at)
        name = fork.name or history.new_task_id()
        workspace = Path(fold_events(add_move(past, self._here)).workspace)
        store = self._stores(workspace, name)
        if folder is not None:
            if not then.checkpoint:
                raise UsageError(f"There is no checkpoint of the files at event {at}.", "Fork without --files.")
            if worktree:
                await add_worktree(workspace, folder)
            await store.export(then.checkpoint, folder)
        # Written first, so that the fork is the newest task of its folder.
        with suppress(TaskBusy):
            await self._note(source, ev.TaskForked(to=name, point=at))
        chosen = Fork(name, source, at, fork.model, find_real_path(folder) if folder else "")
        if then.checkpoint and folder is None:
            await store.adopt(then.checkpoint)
        # The other folders stay the same, even if the first one is a copy.
        there, _ = await rewind.others_of(
            then.state, snapshots.checkpoints_elsewhere(past, at), lambda root, _: self._stores(root, name)
        )
        for other, sha in there:
            await other.adopt(sha)
        await asyncio.to_thread(fork_of, then.events, chosen, self._home)
        return name

    async def _note(self, name: str, *events: ev.DurableEvent) -> None:
        if task := self._running().get(name):
            task.emit(*events)
            return
        async with rewind.in_nobodys_hands(self._home.task(name), name, self._here) as log:
            for event in events:
                log.append(event)

    async def _owner(self, workspace: Path, target: str) -> str:
        """Return the task of a point or a checkpoint."""
        task, is_moment, _ = target.partition("@")
        if is_moment:
            return self._find(task)
        infos = await self._stores(workspace, BY_HAND).list()
        return next((info.task for info in infos if info.is_named(target)), BY_HAND)

    async def _elsewhere(self, workspace: Path, target: str) -> tuple[str, Others, tuple[str, ...]]:
        """Return the task of a point or a checkpoint, and the result of `others_of` for its other folders."""
        task, _, seq = target.partition("@")
        if seq:
            past = self.past(task)
            state, found = fold_events(past), snapshots.checkpoints_elsewhere(past, int(seq))
            return self._find(task), *await rewind.others_of(state, found, self._stores)
        infos = await self._stores(workspace, BY_HAND).list()
        info = next((info for info in infos if info.is_named(target)), None)
        if info is None:
            return BY_HAND, (), ()
        try:
            past = self.past(info.task)
        except HaloclineError:  # its log is gone or damaged, but the checkpoint of the folder is usable
            return info.task, (), ()
        return info.task, *await rewind.others_of(
            fold_events(past), snapshots.find_checkpoints_elsewhere(past, info.sha), self._stores
        )

    def _event_without_checkpoint(self, target: str) -> int | None:
        """Return the event of a point without a checkpoint, which can only be reached by reverting edits; else None."""
        task, _, seq = target.partition("@")
        if not seq.isdecimal():
            return None
        past = self.past(task)
        snapshots.find_place(past, int(seq))
        return None if find_kept_checkpoint(self._home, past, int(seq)) else int(seq)

    @contextmanager
    def _telling_of_losses(self, *targets: str) -> Iterator[None]:
        """Say of a checkpoint that the store has no longer that it is lost, not that there was none."""
        try:
            yield
        except HaloclineError:
            for task, is_named, name in (target.partition("/") for target in targets):
                if is_named and (lost := explain_loss(self._home, task, name)):
                    raise lost from None
            raise

    def _checkpoint(self, name: str) -> str:
        """Return the checkpoint for a checkpoint's name or a `TASK@EVENT`. Raises UsageError and TaskNotFound."""
        task, is_moment, seq = name.partition("@")
        if not is_moment:
            return name
        if not seq.isdecimal():
            raise UsageError(f"{name!r} is not a point in a task.", "Write TASK@EVENT with an event number.")
        past = self.past(task)
        snapshots.find_place(past, int(seq))
        if found := snapshots.checkpoint_at(past, int(seq)):
            return found
        raise UsageError(
            f"There is no checkpoint of the files at {name}.", f"List points: halo tasks show {task} --points"
        )

    def _find(self, task: str) -> str:
        return history.find_task(self._home.tasks, task)


Journey = cmd.GoBack | cmd.EditMessage | cmd.Fork


async def run_history_command(
    command: Journey, task: Task, time: TaskHistory, send: Callable[[cmd.SubmitPrompt], Awaitable[object]]
) -> None:
    """Run a command; an edited message is passed to `send`."""
    try:
        match command:
            case cmd.GoBack():
                await time.go_back(command)
            case cmd.EditMessage(seq=seq, content=content, files=files):
                require_words(content)
                to = rewind.find_event_before(task.log.path, seq)
                await time.go_back(cmd.GoBack(task=command.task, to=to, files=files))
                await send(cmd.SubmitPrompt(task=command.task, content=content, client=command.client))
            case cmd.Fork(to=to, at=at):
                await time.fork(Fork(to, command.task, at))
    except HaloclineError as error:
        task.emit(ev.Noticed(f"{error.text} {error.hint}".strip()))
