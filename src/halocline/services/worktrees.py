"""Worktrees as people see them: with the tasks that worked in them, merged by the rules of the main folder."""

import os
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path

from halocline.git.worktree_list import (
    find_worktree_at as find_worktree_at,
    name_repository as name_repository,
    name_worktree as name_worktree,
)
from halocline.policy.gate import PolicyContext
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.history.worktrees import (
    Choice as Choice,
    Conflict as Conflict,
    Discarded as Discarded,
    MayLose,
    WorktreeMerge as WorktreeMerge,
    WorktreePreview as WorktreePreview,
    Worktrees,
    WorktreeWork as WorktreeWork,
)
from halocline.services.policy.rules import Explanation, PolicyService, explain_command
from halocline.services.tasks import TaskService


class WorktreeSetup(Value, frozen=True):
    """The command that prepares new worktrees, with the decision on it in one of them."""

    command: str
    decision: Explanation


class WorktreeService:
    """The worktrees of the repository around a folder."""

    def __init__(self, folder: Path, assembly: Assembly, tasks: TaskService) -> None:
        self._assembly = assembly
        self._tasks = tasks
        self._folder = folder
        self._worktrees = Worktrees(folder, assembly.home.checkpoints)
        self.diff = self._worktrees.diff
        self.undo = self._worktrees.undo
        self.work = self._worktrees.work

    async def list(self) -> tuple[WorktreeWork, ...]:
        """Return our worktrees with their work, by name. Raises UsageError and GitUnusable."""
        return await self._worktrees.list()

    async def preview(self, name: str) -> WorktreePreview:
        """Return what a worktree has, and what a merge would do now, as `Worktrees.preview` does."""
        worktree = await self._worktrees.find(name)
        return await self._worktrees.preview(name, self._find_context(worktree.main))

    def find_tasks(self, work: WorktreeWork) -> Mapping[str, bool]:
        """Return the tasks of a worktree, and whether each is open: the open ones, then those before, newest first.

        A task is open there, too, if only one of its folders is. Agents are among them.
        """
        folder = work.worktree.folder
        opened = [info.task for info in self._list_open(self._tasks.list_open()) if _has_folder_in(info, folder)]
        found = self._tasks.search(TaskQuery(workspace=str(folder), with_agents=True))
        here = [info.task for info in found if not info.parent or info.workspace == str(folder)]
        return dict.fromkeys(opened, True) | {task: task in opened for task in here}

    def _list_open(self, opened: Container[str], parent: str = "") -> Iterator[TaskInfo]:
        """Yield the open tasks of a parent, or of people, and below each those of its agents."""
        for info in self._tasks.search(TaskQuery(parent=parent)):
            if info.task in opened:
                yield info
                yield from self._list_open(opened, info.task)

    async def merge(
        self,
        name: str,
        choice: Choice = Choice.NONE,
        *,
        only: Sequence[str] = (),
        guarded: bool = False,
        seen: Collection[str] | None = None,
    ) -> WorktreeMerge:
        """Merge a worktree into the main folder, as `Worktrees.merge` does."""
        context = self._find_context((await self._worktrees.find(name)).main)
        return await self._worktrees.merge(name, context, choice, only=only, guarded=guarded, seen=seen)

    async def discard(self, name: str, *, force: bool = False, may_lose: MayLose | None = None) -> Discarded:
        """Remove a worktree, as `Worktrees.discard` does, but never one in which a task is open."""
        worktree = await self._worktrees.find(name)
        running = [task for task, is_open in self.find_tasks(WorktreeWork(worktree)).items() if is_open]
        if running:
            raise HaloclineError(
                f"Task {running[0]} is open in the worktree {name}.", f"End it: halo stop {running[0]}"
            )
        return await self._worktrees.discard(name, force=force, may_lose=may_lose)

    def find_setup(self, folder: Path, mode: ApprovalMode | None, *, trusted: bool = False) -> WorktreeSetup | None:
        """Return the command for a new worktree by the settings of the folder it was made from, judged there.

        It runs like a hook, outside the sandbox; it is denied where the settings require one. `trusted` trusts the
        folder for this run.
        """
        command = self._assembly.in_folder(self._folder, trusted=trusted).settings.worktree_setup.strip()
        if not command:
            return None
        context = PolicyService(self._assembly).policy_context(folder, Mode.ACT, mode)
        in_sandbox = False if context.sandbox.required else None
        return WorktreeSetup(command, explain_command(command, context, in_sandbox=in_sandbox))

    def _find_context(self, main: Path) -> PolicyContext:
        return PolicyService(self._assembly).policy_context(main, Mode.ACT, ApprovalMode.ACCEPT_EDITS)


def _has_folder_in(info: TaskInfo, folder: Path) -> bool:
    places = (os.path.realpath(one) for one in (info.workspace, *info.roots) if one)
    return any(Path(place).is_relative_to(os.path.realpath(folder)) for place in places)
