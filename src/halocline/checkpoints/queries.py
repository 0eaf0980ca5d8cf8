"""Queries of a task's checkpoints. Each waits for pending saves first, without blocking the event loop."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

from halocline.checkpoints import restore as restoring
from halocline.checkpoints.repository.background_upkeep import BackgroundUpkeep
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.saved import CheckpointInfo
from halocline.protocol.errors import HaloclineError
from halocline.protocol.left_out import LeftOut

P = ParamSpec("P")
T = TypeVar("T")

Others = Sequence[tuple["Queries", str]]
"""Further folders of a task, each with its own checkpoint."""
CLOSING = 3.0
"""Longest wait in seconds, of a query and at the end of a task, for borrowed objects to be copied."""


class Queries(ABC):
    """Queries of checkpoints; a subclass does the saving. All raise HaloclineError."""

    _repository: Repository
    _upkeep: BackgroundUpkeep

    @property
    def workspace(self) -> Path:
        """The folder whose files are saved, with links resolved."""
        return self._repository.workspace

    @abstractmethod
    async def settle(self) -> None:
        """Wait until all requests are done."""

    async def list(self, task: str | None = None) -> tuple[CheckpointInfo, ...]:
        """The checkpoints of one task or of all tasks in this workspace, oldest first."""
        return await self._query(self._repository.list, task)

    async def list_left_out(self, checkpoint: str) -> Sequence[LeftOut]:
        """The files that a checkpoint, by its hash, left out, except those that tools make again."""
        return await self._query(restoring.remainder.list_left_out, self._repository, checkpoint)

    async def diff(self, old: str, new: str | None = None) -> str:
        """The unified diff between two checkpoints, or from one to the files as they are now."""
        return await self._query(restoring.compare.diff_checkpoints, self._repository, old, new)

    async def compare(self, old: str, new: str | None = None, root: str = "") -> "restoring.compare.Comparison":
        """Compare two checkpoints, or one and the files as they are now, file by file.

        Names begin with `root`, if given.
        """
        return await self._query(restoring.compare.compare_checkpoints, self._repository, old, new, root)

    async def export(self, target: str, folder: Path) -> None:
        """Write the files of a checkpoint to another folder, where none of them may exist."""
        await self._query(restoring.export.export_checkpoint, self._repository, target, folder)

    async def adopt(self, target: str) -> None:
        """Continue the checkpoints of another task in this one, which has none yet."""
        await self._query(self._repository.adopt, target)

    async def plan(
        self, target: str, others: Others = (), *, overwrite: bool = False
    ) -> "restoring.restore.RestorePlan":
        """Plan what `restore` would do now."""
        return await self._query(restoring.restore.plan_restore, self._targets(target, others), overwrite=overwrite)

    async def restore(
        self, target: str, others: Others = (), *, overwrite: bool = False, always: bool = False
    ) -> "restoring.restore.Restored":
        """Save the present state for undo, then undo the task's changes; with `overwrite`, all changes.

        `others` are further folders that are restored in the same step: all or none. `always`: the undo is a new
        checkpoint in any case.
        """
        for other, _ in others:
            await other.settle()
        targets = self._targets(target, others)
        return await self._query(restoring.restore.restore_files, targets, overwrite=overwrite, always=always)

    def _targets(self, target: str, others: Others) -> "Sequence[restoring.restore.Target]":
        further = [
            restoring.restore.Target(other._repository, sha, str(other._repository.workspace)) for other, sha in others
        ]
        return [restoring.restore.Target(self._repository, target), *further]

    async def _query(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        await self.settle()
        await self._upkeep.stand_alone(CLOSING)
        try:
            return await asyncio.to_thread(function, *arguments, **named)
        except OSError as error:
            raise HaloclineError(
                f"The checkpoints cannot be used: {error.strerror or error}",
                "Check that the disk with Halocline's home has free space and is writable.",
            ) from error
