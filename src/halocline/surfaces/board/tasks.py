"""All tasks of the home, and those of other processes as they change, with the sub-agents that work or left work.

The list comes from the task index. A task that a process has open is followed in its log. Nothing is joined here: a
client that joins can answer, and a task that no one attends would then wait for it.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.client.worktrees import name_repository, name_worktree
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
from halocline.surfaces.board.worktrees import Standing, WorktreeStates

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
        self._worktrees: dict[str, tuple[str, str]] = {}
        """The name of the worktree and that of the repository by folder; empty for a folder in none."""
        self._states_of_worktrees = WorktreeStates(client, on_change)
        self.look_again = self._states_of_worktrees.look_again
        self._on_change = on_change
        self._on_problem = on_problem
        self._infos: list[TaskInfo] = []
        self._working: set[str] = set()
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
        titles = {info.task: info.name or info.title for info in self._infos}
        for info in self._list_shown():
            task, place, state = info.task, info.workspace, self._states.get(info.task)
            name, repository = self._worktrees.get(place, ("", ""))
            work = self._states_of_worktrees.find(place)
            waits = state.queue.waits[0].after if state and state.queue.waits else ()
            awaited = tuple(titles.get(one, "") for one in waits)
            entry = TaskEntry(info, state, self._open.get(task, ""), name, work, repository, awaited)
            old = before.get(task)
            self._entries[task] = old if old and old.same_as(entry) else entry
        return [*self._entries.values()]

    def _list_shown(self) -> list[TaskInfo]:
        """Return the tasks, and of their agents those that work or left work in a worktree, with those above them."""
        agents = {info.task: info for info in self._infos if info.parent}
        shown = {task for task, info in agents.items() if task in self._working or self._has_work(info)}
        for task in [*shown]:
            while (task := agents[task].parent) in agents:
                shown.add(task)
        return [info for info in self._infos if not info.parent or info.task in shown]

    def _has_work(self, info: TaskInfo) -> bool:
        work = self._states_of_worktrees.find(info.workspace)
        return work is not None and work.standing not in (Standing.UNCHANGED, Standing.GONE)

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
        seen = await asyncio.to_thread(self._look)
        has_changed = seen != (self._infos, self._open, self._working)
        self._infos, self._open, self._working = seen
        opened, changed = self._open, {info.task: info.changed_at for info in self._list_shown()}
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
            infos = [info for info in self._infos if self._worktrees.get(info.workspace, ("", ""))[0]]
            changed = {info.workspace: info.changed_at for info in sorted(infos, key=lambda info: info.changed_at)}
            await self._states_of_worktrees.refresh(changed)
            await asyncio.sleep(LOOK_EVERY)

    def _look(self) -> tuple[list[TaskInfo], dict[str, str], set[str]]:
        tasks = self._client.tasks
        states = [state for task, state in [*self._states.items()] if task in self._open]
        working = {one.child for state in states for one in state.subagents.running}
        found = tasks.search(TaskQuery(workspace=self._folder, with_agents=True))
        for folder in {info.workspace for info in found} - self._worktrees.keys():
            name = name_worktree(folder)
            self._worktrees[folder] = name, name_repository(folder) if name else ""
        return found, tasks.list_open(), working

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
        closed = [info for info in self._list_shown() if info.task not in self._open][:MOST_READ]
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
