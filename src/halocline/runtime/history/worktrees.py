"""Worktrees as places to work: what they change, merging it into the main folder's files, and discarding them.

What must stay true: a worktree's work is never lost unasked, and a merge never overwrites what the main folder changed.
The files of a worktree are as untrusted as those of any folder; paths are judged as edits of them would be.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.repository.stores import open_repository
from halocline.checkpoints.repository.upkeep import Upkeep
from halocline.checkpoints.restore.compare import Comparison, compare_trees
from halocline.checkpoints.restore.merge_in import (
    Choice as Choice,
    Conflict as Conflict,
    Merged as Merged,
    Sides,
    keep_sides,
    merge_files,
    try_merge,
    undo_merge,
)
from halocline.checkpoints.restore.merge_record import forget_merge
from halocline.checkpoints.restore.restore import Restored
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store.reading import LINK
from halocline.checkpoints.store.trees import find_entry
from halocline.git.worktree_changes import read_ignored
from halocline.git.worktree_list import Worktree as Worktree, find_main, find_worktree, list_worktrees
from halocline.git.worktrees import remove_worktree
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.presets import with_switches
from halocline.ports.tool import Summary
from halocline.protocol.errors import HaloclineError, ToolFailure, UsageError
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Mode, ToolKind
from halocline.protocol.left_out import LeftOut, name_some
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.values import Value
from halocline.runtime.history.worktree_work import (
    LoadedWork,
    load_work,
    make_key,
    open_store,
    read_record,
    select_files,
)

MayLose = Callable[[Sequence[str]], Awaitable[bool]]
"""Asks whether these files may be lost."""
_NAMED = 20
_ASKED = dict.fromkeys((ApprovalSwitch.EDIT, ApprovalSwitch.EDIT_OUTSIDE))
_LARGE = "it is too large or cannot be read"


class WorktreeWork(Value, frozen=True):
    """The work of a worktree that the main folder lacks: files, and `apart` what a merge does not look into.

    `unread` are files that are too large or cannot be read; `staged` are only in the worktree's index. `edited` were
    merged, but the main folder has them otherwise now. `ahead` and `behind` count commits. `undo` is the main folder's
    checkpoint before the last merge.
    """

    worktree: Worktree
    unmerged: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    ahead: int = 0
    behind: int = 0
    problem: str = ""
    undo: str = ""

    @property
    def left(self) -> tuple[str, ...]:
        """All that only the worktree has."""
        return (*self.unmerged, *self.unread, *self.apart, *(f"{path} (only staged)" for path in self.staged))

    @property
    def is_merged(self) -> bool:
        return not (self.left or self.problem)


class WorktreeMerge(Value, frozen=True):
    """The result of a merge. `refused` may not be edited; `guarded` may, after a person said so (`guarded`)."""

    merged: Merged
    refused: tuple[LeftOut, ...] = ()
    guarded: tuple[LeftOut, ...] = ()
    apart: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not (self.merged.conflicts or self.merged.kept or self.refused or self.guarded)


class WorktreePreview(Value, frozen=True):
    """A worktree's work, its differences, and what a merge would do with them now."""

    work: WorktreeWork
    changes: Comparison = Comparison()
    merge: WorktreeMerge = WorktreeMerge(Merged())


class Discarded(Value, frozen=True):
    """A removed worktree: `checkpoint` has its unmerged work but for `lost`; `commits` are only on its `branch`.

    `before_merge` is the main folder's checkpoint before the last merge.
    """

    worktree: Worktree
    checkpoint: str = ""
    lost: tuple[str, ...] = ()
    commits: int | None = 0
    branch: str = ""
    tip: str = ""
    before_merge: str = ""


class Worktrees:
    """The worktrees of the repository around a folder. `stores` is the folder of all checkpoints."""

    def __init__(self, folder: Path, stores: Path, limits: Limits | None = None) -> None:
        self._folder = folder
        self._stores = stores
        self._limits = limits or Limits()

    async def find(self, name: str) -> Worktree:
        """Return the worktree with this name. Raises UsageError and GitUnusable."""
        return find_worktree(await asyncio.to_thread(find_main, self._folder), name)

    async def list(self) -> tuple[WorktreeWork, ...]:
        """Return our worktrees with their work, by name. Raises UsageError and GitUnusable."""
        found = list_worktrees(await asyncio.to_thread(find_main, self._folder))
        return tuple(await asyncio.gather(*map(self._describe, found)))

    async def work(self, name: str) -> WorktreeWork:
        """Return what a worktree has that the main folder lacks. Raises UsageError and GitUnusable."""
        return _describe_work(worktree := await self.find(name), await self._load(worktree))

    async def diff(self, name: str) -> Comparison:
        """Compare the files that a merge would bring with those it would start from. Raises as `work` does."""
        loaded = await self._load(await self.find(name))
        return (await asyncio.to_thread(self._compare, loaded, {}))[0]

    async def preview(self, name: str, context: PolicyContext) -> WorktreePreview:
        """Return what a worktree has, and what `merge` would do; no file is written. Raises as `work` does."""
        worktree = await self.find(name)
        loaded = await self._load(worktree)
        sides, left = await self._judge_paths(worktree, loaded, context)
        found = await asyncio.to_thread(self._compare, loaded, sides)
        return WorktreePreview(_describe_work(worktree, loaded), found[0], replace(left, merged=found[1]))

    async def merge(
        self,
        name: str,
        context: PolicyContext,
        choice: Choice = Choice.NONE,
        *,
        only: Sequence[str] = (),
        guarded: bool = False,
        seen: Collection[str] | None = None,
    ) -> WorktreeMerge:
        """Merge a worktree's files into those of the main folder; nothing is committed, and the index stays.

        `context` is that of a task in the main folder: its rules and hidden names apply. `guarded` files, those that
        even a mode that accepts edits asks about, are only merged if that is set. With `only`, it merges no other files
        than these and those in these folders. `seen` are the versions of the conflicts that `choice` is about.

        Raises:
            UsageError, GitUnusable
            NotRestored: a file could not be written; nothing was changed.
        """
        worktree = await self.find(name)
        loaded = await self._load(worktree)
        loaded = select_files(loaded, only) if only else loaded
        sides, left = await self._judge_paths(worktree, loaded, context, guarded=guarded)
        if sides.keys().isdisjoint(loaded.unmerged):
            return left
        merged = await asyncio.to_thread(merge_files, loaded.repository, loaded.source, sides, choice, seen)
        return replace(left, merged=merged)

    async def _judge_paths(
        self, worktree: Worktree, loaded: LoadedWork, context: PolicyContext, *, guarded: bool = False
    ) -> tuple[Mapping[bytes, Sides], WorktreeMerge]:
        """Return the files that a merge may touch, and what it leaves."""
        ignored = await read_ignored(worktree.main, [path for path in loaded.unmerged if not loaded.sides[path][0]])
        refused, asked = dict.fromkeys(loaded.unread, _LARGE), dict[bytes, str]()
        for path in loaded.unmerged:
            verdict, why = _judge_path(context, worktree.main, path, loaded.sides[path])
            if verdict is Verdict.DENY or path in ignored:
                refused[path] = why if verdict is Verdict.DENY else ignored[path]
            elif verdict is Verdict.ASK and not guarded:
                asked[path] = why
        sides = {path: both for path, both in loaded.sides.items() if path not in refused.keys() | asked.keys()}
        return sides, WorktreeMerge(Merged(), _list_left(refused), _list_left(asked), loaded.changes.apart)

    async def undo(self, name: str) -> Restored:
        """Undo the last merge of a worktree; what you changed since stays. Raises as a restore does."""
        worktree = await self.find(name)
        store = open_store(self._stores, worktree, self._limits)
        if not await asyncio.to_thread(read_record, store, worktree):
            raise UsageError(f"Nothing was merged from {name}, or it was undone.")
        return await asyncio.to_thread(undo_merge, store, make_key(worktree), name)

    async def discard(self, name: str, *, force: bool = False, may_lose: MayLose | None = None) -> Discarded:
        """Remove a worktree. With `force` also one with unmerged work.

        A checkpoint keeps what the main folder does not have as the worktree has it. `may_lose` is asked before
        something is lost that no checkpoint can hold.

        Raises HaloclineError with the unmerged files, and GitUnusable.
        """
        worktree = await self.find(name)
        if worktree.is_locked:
            why = f" ({worktree.lock})" if worktree.lock else ""
            raise HaloclineError(
                f"The worktree {name} is locked{why}.", f"Unlock it: git worktree unlock {worktree.folder}"
            )
        is_gone = worktree.is_missing and not await asyncio.to_thread(os.path.lexists, worktree.folder)
        work = WorktreeWork(worktree) if is_gone else await self.work(name)
        if not (work.is_merged or force):
            apart = (*work.unread, *work.apart)
            merge = f"Merge it: halo worktrees merge {name}. " if work.unmerged else ""
            copy = f"No merge takes {name_some(apart, _NAMED)}: copy it from {worktree.folder}. " if apart else ""
            staged = f"Commit or unstage what is only staged, in {worktree.folder}. " if work.staged else ""
            raise HaloclineError(
                f"The worktree {name} has work that is not merged: {name_some(work.left, _NAMED)}.",
                f"{merge}{copy}{staged}To remove it all the same, add --force.",
            )
        kept: tuple[str, tuple[str, ...]] = "", ()
        if work.edited or not work.is_merged:
            kept = await asyncio.to_thread(self._keep_work, work)
        if kept[1] and may_lose and not await may_lose(kept[1]):
            raise HaloclineError(f"The worktree {name} stays.", f"It is in {worktree.folder}.")
        left = await remove_worktree(worktree)
        before_merge = await asyncio.to_thread(self._forget, worktree)
        return Discarded(worktree, *kept, left.commits, left.branch, left.tip, before_merge)

    async def _describe(self, worktree: Worktree) -> WorktreeWork:
        try:
            return _describe_work(worktree, await self._load(worktree))
        except HaloclineError as error:
            return WorktreeWork(worktree, problem=f"{error.text} {error.hint}".strip())

    async def _load(self, worktree: Worktree) -> LoadedWork:
        return await load_work(self._stores, worktree, self._limits)

    def _compare(self, loaded: LoadedWork, sides: Mapping[bytes, Sides]) -> tuple[Comparison, Merged]:
        """Return the differences, and what a merge of those `sides` would do."""
        if not loaded.sides:
            return Comparison(), Merged()
        with loaded.repository.lock_store(self._limits.patience) as git:
            found = compare_trees(git, *keep_sides(git, loaded.sides))
            return found, try_merge(git, loaded.source, sides, loaded.here)

    def _keep_work(self, work: WorktreeWork) -> tuple[str, tuple[str, ...]]:
        """Save a checkpoint of a worktree; returns it, and the unmerged files that it does not hold."""
        folder = work.worktree.folder
        repository = open_repository(self._stores, folder, limits=self._limits)
        label = f"Before discarding the worktree {work.worktree.name}"
        saved = repository.save(label, None, dict, always=True, patient=True)
        Upkeep(repository).stand_alone()
        with repository.opened() as git:
            tree = git.word("rev-parse", f"{saved.sha}^{{tree}}")
            there = [path for path in (*work.unmerged, *work.edited) if os.path.lexists(folder / path)]
            unsaved = [path for path in there if not find_entry(git, tree, os.fsencode(path))]
        return saved.sha, (*unsaved, *(path for path in work.left if path not in work.unmerged))

    def _forget(self, worktree: Worktree) -> str:
        """Forget the merges of a worktree; returns the checkpoint before the last one, if there is one."""
        repository = open_store(self._stores, worktree, self._limits)
        record = read_record(repository, worktree)
        if record:
            with repository.lock_store(self._limits.patience) as git:
                forget_merge(git, make_key(worktree))
        return record.undo if record else ""


def _describe_work(worktree: Worktree, loaded: LoadedWork) -> WorktreeWork:
    changes = loaded.changes
    unmerged, unread, edited = (
        tuple(map(os.fsdecode, paths)) for paths in (loaded.unmerged, loaded.unread, loaded.edited)
    )
    counts = changes.ahead, changes.behind
    return WorktreeWork(worktree, unmerged, unread, changes.apart, changes.staged, edited, *counts, undo=loaded.undo)


def _list_left(found: Mapping[bytes, str]) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(path.decode(errors="replace"), why) for path, why in found.items())


def _judge_path(context: PolicyContext, main: Path, path: bytes, sides: Sides) -> tuple[Verdict, str]:
    """Judge a change of the main folder as an edit in a mode that accepts edits: a person asked for it."""
    theirs, full = sides[1], os.path.join(main, os.fsdecode(path))
    kind = ToolKind.EDIT if theirs else ToolKind.DELETE
    context = replace(
        context,
        mode=Mode.ACT,
        approval_mode=ApprovalMode.ACCEPT_EDITS,
        book=with_switches(context.book, _ASKED),
    )
    try:
        decision = decide_call(Summary(full, kind, (full,), tool="replace_in_file"), context)
    except ToolFailure as failure:
        return Verdict.DENY, str(failure)
    if theirs and theirs.mode == LINK and decision.verdict is Verdict.ALLOW:
        words = os.fsdecode(theirs.content)
        target = os.path.realpath(os.path.join(os.path.dirname(full), words))
        # A name before `..` may become a link by the same merge.
        if re.search(r"[^/.][^/]*/(.*/)?\.\.(/|$)", words) or not Path(target).is_relative_to(main):
            return Verdict.ASK, "it is a link that leads out of the folder"
    return decision.verdict, decision.reason
