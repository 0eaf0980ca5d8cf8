"""Worktrees of tasks on the board: what each has that its main folder lacks, and their removal. The service merges."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from halocline.client.tasks import Client
from halocline.client.worktrees import (
    Discarded,
    WorktreePreview,
    WorktreeService,
    WorktreeWork,
    find_worktree_at,
)
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.left_out import name_some
from halocline.protocol.values import Value
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean

MOST_READ = 20
"""Worktrees that are looked at, those with the latest tasks."""
PAUSE = 5.0
AGAIN = 60.0
"""Least seconds between two looks at a worktree, and most: a person changes files without a task, too."""


_ATTEMPT = re.compile(r"(\d{6}-\d{6}-[0-9a-f]{4})-\d+")
"""Names of worktrees that `--best-of` makes."""


class Standing(StrEnum):
    """The state of a worktree's files beside those of its main folder."""

    UNMERGED = "to merge"
    CONFLICT = "conflict"
    MERGED = "merged"
    UNCHANGED = "no changes"
    GONE = "gone"
    UNKNOWN = "unknown"


class WorktreeState(Value, frozen=True):
    """A worktree as the board shows it; `text` says all of it.

    `group` is the same for attempts with one prompt.
    """

    name: str
    standing: Standing
    text: str
    files: int = 0
    added: int = 0
    removed: int = 0
    can_undo: bool = False
    group: str = ""


class WorktreeStates:
    """The states by folder. `on_change` is called after each change."""

    def __init__(self, client: Client, on_change: Callable[[], None]) -> None:
        self._client = client
        self._on_change = on_change
        self._states: dict[str, WorktreeState] = {}
        self._seen: dict[str, tuple[float, float]] = {}

    def find(self, folder: str) -> WorktreeState | None:
        return self._states.get(folder)

    def look_again(self) -> None:
        """Look at all soon: a merge of one may bring others into conflict."""
        self._seen.clear()

    async def refresh(self, changed: Mapping[str, float]) -> None:
        """Look at the folders whose tasks changed, and at others after a while. `changed` has the time of the last."""
        for folder in sorted(changed, key=changed.__getitem__, reverse=True)[:MOST_READ]:
            at, seen = self._seen.get(folder, (0.0, 0.0))
            age = time.monotonic() - seen
            if seen and (age < PAUSE or (at == changed[folder] and age < AGAIN)):
                continue
            self._seen[folder] = changed[folder], time.monotonic()
            state = await _read_state(self._client, folder)
            if state and state != self._states.get(folder):
                self._states[folder] = state
                self._on_change()


async def open_worktrees(client: Client, folder: Path) -> tuple[WorktreeService, str]:
    """Return the service of the worktree that a task's folder is in, and its name. Raises UsageError, GitUnusable."""
    found = await asyncio.to_thread(find_worktree_at, folder)
    if found is None:
        raise UsageError(f"{folder} is in no worktree.")
    if found.is_missing and not found.made:
        raise UsageError(f"The worktree {found.name} is gone: {found.folder}.")
    return client.worktrees_in(found.main), found.name


async def _read_state(client: Client, folder: str) -> WorktreeState | None:
    name = os.path.basename(folder)
    try:
        found = await asyncio.to_thread(find_worktree_at, Path(folder))
        if found is None:
            return None
        name = found.name
        if found.is_missing and not await asyncio.to_thread(os.path.lexists, found.folder):
            return WorktreeState(name, Standing.GONE, "gone")
        return describe_state(await client.worktrees_in(found.main).preview(name))
    except (HaloclineError, OSError) as error:
        return WorktreeState(name, Standing.UNKNOWN, " ".join(clean(str(error)).split()))


def describe_state(seen: WorktreePreview) -> WorktreeState:
    """Say how a worktree stands, in a line."""
    work, conflicts = seen.work, len(seen.merge.merged.conflicts)
    attempt = _ATTEMPT.fullmatch(work.worktree.name)
    if work.is_merged:
        standing = Standing.MERGED if work.undo else Standing.UNCHANGED
    else:
        standing = Standing.CONFLICT if conflicts else Standing.UNMERGED
    shown = {file.path: file for file in seen.changes.files if file.path in work.unmerged}.values()
    added, removed = sum(file.added or 0 for file in shown), sum(file.removed or 0 for file in shown)
    files = len(work.unmerged) + len(work.unread)
    parts = [f"{format_plural(files, 'file')} to merge +{added} −{removed}"] if files else []
    parts += [format_plural(conflicts, "conflict")] if conflicts else []
    parts += [f"not merged: {clean(name_some(work.apart))}"] if work.apart else []
    parts += [f"only staged: {clean(name_some(work.staged))}"] if work.staged else []
    name = work.worktree.name
    facts = len(work.left), added, removed, bool(work.undo)
    return WorktreeState(name, standing, " · ".join(parts) or str(standing), *facts, attempt[1] if attempt else "")


def describe_loss(work: WorktreeWork) -> list[str]:
    """Say what a discard removes with the folder, before it does."""
    kept = (*work.unmerged, *work.edited)
    lost = [path for path in work.left if path not in work.unmerged]
    lines = [f"Not merged, a checkpoint keeps it: {clean(name_some(kept))}."] if kept else []
    lines += [f"Not merged, and lost: {clean(name_some(lost))}."] if lost else []
    lines += [] if kept or lost else ["All of its work is merged." if work.undo else "It has no changes."]
    return [*lines, "Files that git ignores go with the folder. A branch with commits of its own stays."]


async def discard_worktree(service: WorktreeService, name: str, seen: Iterable[str]) -> Discarded:
    """Remove a worktree whose unmerged work a person has `seen` and given up.

    Raises HaloclineError, also if there is more by now.
    """
    left = (await service.work(name)).left
    if more := [path for path in left if path not in {*seen}]:
        raise HaloclineError(f"The worktree {name} has more by now: {name_some(more)}.", "Look again.")
    return await service.discard(name, force=bool(left))
