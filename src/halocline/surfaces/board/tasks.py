"""All tasks of the home, and those of other processes as they change, with the sub-agents that work.

The list comes from the task index. A task that a process has open is followed in its log. Nothing is joined here: a
client that joins can answer, and a task that no one attends would then wait for it.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.client.worktrees import name_worktree
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Durable
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.state.files import FilesState
from halocline.protocol.state.points import HistoryState
from halocline.protocol.state.prompt import PromptState
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.board.entries import TaskEntry
from halocline.surfaces.board.worktrees import WorktreeStates

LOOK_EVERY = 1.0
"""Seconds between two looks at the list of tasks."""
MOST_READ = 60
"""Closed tasks whose logs are read, for their context; of the others, the index knows the rest."""


class BoardTasks:
    """The tasks by id, or only those of a `folder`.

    `on_change` is called after each change, `on_problem` if the list cannot be read.
    """

    def __init__(
        self, client: Client, on_change: Callable[[], None], on_problem: Callable[[str], None], folder: str = ""
    ) -> None:
        self._client = client
        self._folder = folder
        self._worktrees: dict[str, str] = {}
        self._states_of_worktrees = WorktreeStates(client, on_change)
        self.look_again = self._states_of_worktrees.look_again
        self._on_change = on_change
        self._on_problem = on_problem
        self._infos: list[TaskInfo] = []
        self._entries: dict[str, TaskEntry] = {}
        self._open: Mapping[str, str] = {}
        self._states: dict[str, State] = {}
        self._read_at: dict[str, float] = {}
        self._followers: dict[str, asyncio.Task[None]] = {}
        self._followed_at: dict[str, float] = {}
        """When a task had changed last as it was followed."""

    def list_entries(self) -> list[TaskEntry]:
        """Return the tasks as they are now; what did not change is the same entry as before, with its row."""
        before, self._entries = self._entries, {}
        for info in self._infos:
            task, place = info.task, info.workspace
            worktree = self._worktrees.get(place, ""), self._states_of_worktrees.find(place)
            entry = TaskEntry(info, self._states.get(task), self._open.get(task, ""), *worktree)
            old = before.get(task)
            self._entries[task] = old if old and old.same_as(entry) else entry
        return [*self._entries.values()]

    async def watch(self) -> None:
        """Follow the tasks until canceled."""
        worktrees = asyncio.create_task(self._watch_worktrees(), name="worktrees of the board")
        try:
            while True:
                try:
                    await self.refresh()
                    await self.read_closed()
                except OSError as error:  # the next look may find it again
                    self._on_problem(f"Cannot read the list of tasks: {error.strerror}.")
                await asyncio.sleep(LOOK_EVERY)
        finally:
            await end_tasks(worktrees, *self._followers.values())

    async def refresh(self) -> None:
        """Look at the list once."""
        infos, opened = await asyncio.to_thread(self._look)
        has_changed = (infos, opened) != (self._infos, self._open)
        self._infos, self._open = infos, opened
        changed = {info.task: info.changed_at for info in infos}
        for task, follower in [*self._followers.items()]:
            # One that ended over a damaged log would end over it again.
            if task not in opened or (follower.done() and self._followed_at[task] != changed.get(task)):
                await end_tasks(self._followers.pop(task))
        for task in opened:
            if task in changed and task not in self._followers:
                self._followed_at[task] = changed[task]
                self._followers[task] = asyncio.create_task(self._follow(task), name=f"board: {task}")
        if has_changed:
            self._on_change()

    async def _watch_worktrees(self) -> None:
        while True:
            infos = [info for info in self._infos if self._worktrees.get(info.workspace)]
            changed = {info.workspace: info.changed_at for info in sorted(infos, key=lambda info: info.changed_at)}
            await self._states_of_worktrees.refresh(changed)
            await asyncio.sleep(LOOK_EVERY)

    def _look(self) -> tuple[list[TaskInfo], dict[str, str]]:
        tasks = self._client.tasks
        parents = [task for task, state in [*self._states.items()] if state.subagents.running and task in self._open]
        working = {one.child for task in parents for one in self._states[task].subagents.running}
        children = [info for task in parents for info in tasks.search(TaskQuery(parent=task))]
        found = tasks.search(TaskQuery(workspace=self._folder))
        for folder in {info.workspace for info in found} - self._worktrees.keys():
            self._worktrees[folder] = name_worktree(folder)
        return [*found, *(info for info in children if info.task in working)], tasks.list_open()

    async def _follow(self, task: str) -> None:
        """Keep the state of a task that a process has open."""
        with contextlib.suppress(HaloclineError, OSError):  # its log is damaged or gone; the index still lists it
            state = await asyncio.to_thread(self._read_state, task)
            self._set_state(task, state)
            async for event in self._client.events(task, state.seq):
                if isinstance(event, Durable):
                    state = reduce_event(state, event)
                    self._set_state(task, state)

    async def read_closed(self) -> None:
        """Read the logs of the latest closed tasks, once after each change."""
        closed = [info for info in self._infos if info.task not in self._open][:MOST_READ]
        for info in closed:
            if self._read_at.get(info.task) == info.changed_at:
                continue
            self._read_at[info.task] = info.changed_at
            with contextlib.suppress(HaloclineError, OSError):
                self._set_state(info.task, _without_content(await asyncio.to_thread(self._read_state, info.task)))

    def _read_state(self, task: str) -> State:
        return fold_events(self._client.past(task))

    def _set_state(self, task: str, state: State) -> None:
        self._states[task] = state
        self._on_change()


def _without_content(state: State) -> State:
    """The state of a closed task without its large parts, which the list does not show."""
    return replace(
        state,
        messages=tuple(state.messages[-2:]),
        draft=None,
        prompt=PromptState(),
        files=FilesState(),
        history=HistoryState(),
    )
