"""Manage tasks as a whole: names and labels, the trash and restoring from it."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from halocline.checkpoints.repository import stores
from halocline.protocol.commands import AnyCommand, Label
from halocline.protocol.errors import HaloclineError, TaskBusy, TaskNotFound, UsageError
from halocline.protocol.events import TaskLabelled
from halocline.protocol.plan_approval import needs_person
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import State
from halocline.runtime import attach
from halocline.runtime.history.losses import find_lost
from halocline.store.paths import Home, is_task_id
from halocline.store.tasks import history
from halocline.store.tasks.index import TaskIndex
from halocline.store.tasks.renamed import NOWHERE, FoldersHere
from halocline.task import lock
from halocline.task.log import Log, Tail, read_log

DAY = 86400
ALL_TASKS = TaskQuery()


class TaskService:
    """The tasks of a home. The trash keeps them for `days`.

    A task whose folder was renamed to one of the folders `here`, or to the workspace that is asked for, belongs there.
    """

    def __init__(self, home: Home, days: int, here: FoldersHere = NOWHERE) -> None:
        self._home = home
        self._here = here
        self.days = days

    def search(self, query: TaskQuery = ALL_TASKS) -> list[TaskInfo]:
        """Return the tasks that match a query, newest first, or best match first if it has search words."""
        return TaskIndex(self._home.history, self._home.tasks, self._here).find(query)

    def newest(self, workspace: Path) -> TaskInfo | None:
        """Return the most recently active task of a workspace; quick, as it stops at the first one that fits."""
        return next(history.newest_of(self._home.tasks, str(workspace)), None)

    def info(self, name: str) -> TaskInfo | None:
        """Return the summary of one task by its full id; quick. None if there is no such task."""
        return history.task_info(self._home.tasks, name, self._here) if is_task_id(name) else None

    def folders(self, name: str) -> State:
        """Return a state with the folders of a task, without the rest of a long log. Raises TaskNotFound."""
        info = self.info(name)
        if info is None and not self._home.task(name).exists():
            raise lock.describe_deleted(name)
        if info is None or not info.workspace:
            raise TaskNotFound(f"The log of task {name} has no first event.", "Delete the task; it cannot be used.")
        return State(task=name, workspace=info.workspace, roots=info.roots)

    def check_new_id(self, name: str) -> None:
        """Check an id that a person chose for a new task. Raises UsageError if it is taken, or cannot be one."""
        history.check_new_id(self._home, name)

    def writer(self, name: str) -> str:
        """Return the pid of the process that has a task open, or an empty string."""
        return (lock.read_owner(self._home.task(name)) or "").partition(" ")[0]

    def list_open(self) -> dict[str, str]:
        """Return the tasks that a process has open, each with its pid. No log is read."""
        locks = self._home.tasks.glob(f"*/{lock.LOCK_NAME}")
        names = [path.parent.name for path in locks if lock.has_holder(path)]
        return {name: pid for name in names if (pid := self.writer(name))}

    def list_waiting(self, tasks: Iterable[str] = ()) -> list[str]:
        """Return the tasks that wait for a person, of those that are open and of these. Only their logs are read.

        An agent is not among them unless it is one of these: what it asks, its parent asks, and it is asked once.
        """
        opened, named = self.list_open(), {*tasks}
        return [name for name in {*opened, *named} if self._is_waiting(name, name in opened, name in named)]

    def _is_waiting(self, name: str, is_open: bool, is_named: bool) -> bool:
        try:
            state = fold_events(read_log(self._home.log(name)))
        except HaloclineError:
            return False
        return needs_person(state, is_open=is_open) and (is_named or state.subagents.subtask is None)

    async def label(self, command: Label, client: str) -> None:
        """Write a label into a task's log, or ask the process that writes it to do so.

        Raises:
            TaskBusy: that process refuses peers.
            TaskNotFound: it was deleted.
        """
        await self._reach_writer(command, client, lambda: self._label_here(command))

    async def deliver(self, command: AnyCommand, client: str) -> None:
        """Have the process that runs a task carry out a command.

        Raises:
            TaskBusy: that process refuses it, or does not answer.
            UsageError: no process runs the task any more.
        """

        def require_writer() -> bool:
            if not self.writer(command.task):
                raise UsageError(f"Task {command.task} is not running any more.", "See: halo tasks list --all")
            return False

        await self._reach_writer(command, client, require_writer)

    async def _reach_writer(self, command: AnyCommand, client: str, is_done: Callable[[], bool]) -> None:
        """Send a command to the task's writer, again until it answers or it is done without. Raises TaskBusy."""
        folder, writer = self._home.task(command.task), attach.connection
        deadline = time.monotonic() + writer.PATIENCE
        while not (is_done() or await writer.deliver_command(folder, command, client)):
            if time.monotonic() > deadline:
                raise writer.describe_busy(folder)
            await asyncio.sleep(writer.PAUSE)

    def _label_here(self, command: Label) -> bool:
        """Write a label into a task's log; False if another process has it open."""
        try:
            with closing(Log(self._home.task(command.task), command.task, goes_on=True)) as log:
                log.load()
                log.append(TaskLabelled(name=command.name, tags=command.tags, favourite=command.favourite))
        except TaskBusy:
            return False
        return True

    def forget(self, name: str) -> None:
        """Permanently delete a task and what only it needs. Raises TaskBusy."""
        with self._lock_task(name):
            self._remove(self._home.tasks, [*self._children(name), name])

    def delete(self, name: str) -> None:
        """Move a task to the trash, and delete what has been there too long. Raises TaskBusy."""
        with self._lock_task(name):
            for task in (*self._children(name), name):
                if (self._home.trash / task).exists():
                    history.forget_task(self._home.trash, task)
                history.put_away(self._home.tasks, task, self._home.trash)
        self._remove(self._home.trash, history.list_outdated(self._home.trash, self.days * DAY, time.time()))

    def deleted(self) -> list[tuple[TaskInfo, float]]:
        """Return the tasks in the trash, each with the time it was deleted (Unix seconds)."""
        return [(info, at) for info, at in history.put_away_at(self._home.trash) if not info.parent]

    def undelete(self, name: str) -> str:
        """Restore a task from the trash and return its full id. Raises TaskNotFound and UsageError."""
        task = history.find_task(self._home.trash, name, "List the trash: halo tasks undelete")
        if self._home.task(task).exists():
            raise UsageError(f"A task {task} already exists.", "Delete it first.")
        for one in (*self._deleted_children(task), task):
            history.take_back(self._home.trash, one, self._home.tasks)
        return task

    def discard(self, name: str) -> None:
        """Permanently delete a task that is in the trash. Raises TaskNotFound and UsageError."""
        task = history.find_task(self._home.trash, name, "It is no longer in the trash.")
        self._remove(self._home.trash, [*self._deleted_children(task), task])

    def lost_checkpoints(self, workspace: Path) -> dict[str, int]:
        """Return the tasks of a workspace whose logs name checkpoints that its store lacks, and how many; newest first.

        Raises HaloclineError: git is missing, or does not answer.
        """
        tasks = [info.task for info in self.search(TaskQuery(workspace=str(workspace)))]
        return {task: len(lost) for task, lost in find_lost(self._home, tasks).items()}

    def half_restored(self) -> list[str]:
        """Return the folders in which a restore was interrupted."""
        return stores.half_restored(self._home.checkpoints)

    def _children(self, name: str) -> list[str]:
        """Return the tasks of a task's sub-agents, which are deleted with it, except those that are open."""
        children = [info.task for info in self.search(TaskQuery(parent=name))]
        return [child for child in children if not self.writer(child)]

    def _deleted_children(self, name: str) -> list[str]:
        return [info.task for info, _ in history.put_away_at(self._home.trash) if info.parent == name]

    def _remove(self, folder: Path, tasks: Sequence[str]) -> None:
        """Permanently delete tasks, their checkpoints, and the blobs that no other task references."""
        if not tasks:
            return
        from halocline.services import blob_gc

        now, named = time.time(), {blob for task in tasks for blob in blob_gc.named_in(folder / task)}
        for task in tasks:
            history.forget_task(folder, task)
            stores.forget_task(self._home.checkpoints, task)
        blob_gc.free_blobs(self._home, named, now)

    @contextmanager
    def _lock_task(self, name: str) -> Iterator[None]:
        held = lock.take_lock(self._home.task(name), name)
        try:
            yield
        finally:
            lock.give_back(held)


class OpenStandings:
    """Reads the logs of tasks that processes have open, each line once, and says what they do. None is joined."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._service = TaskService(home, 0)
        self._read: dict[str, tuple[Tail, State]] = {}

    def look(self, but: Collection[str] = ()) -> dict[str, str]:
        """Return `asks`, `runs` or `rests` for each open task without a parent, but for some. Slow: reads files."""
        opened = self._service.list_open().keys() - {*but}
        self._read = {task: read for task, read in self._read.items() if task in opened}
        found = {}
        for task in sorted(opened):
            with suppress(HaloclineError, OSError):  # its log is damaged, or it has just been deleted
                tail, state = self._read.get(task) or (Tail(self._home.log(task)), State())
                for event in tail.read():
                    state = reduce_event(state, event)
                self._read[task] = tail, state
                if state.workspace and state.subagents.subtask is None:
                    found[task] = describe_standing(state)
        return found


def describe_standing(state: State) -> str:
    """Return what an open task does: `asks`, `runs` or `rests`."""
    if needs_person(state, is_open=True):
        return "asks"
    return "runs" if state.queue.waits or not state.turn_is_over else "rests"
