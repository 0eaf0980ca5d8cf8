"""Saves and reads the checkpoints of one workspace, in a bare git repository of our own with its own index.

The project's git is not involved. Every method blocks and belongs in a thread. The index is only used with the store's
lock held, so processes take turns. The message of a checkpoint's commit is its label.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from halocline.checkpoints.changes import overtaking
from halocline.checkpoints.changes.attribution import UNKNOWN, Attribution, format_message
from halocline.checkpoints.changes.claims import Claims
from halocline.checkpoints.changes.evidence import attribute_between, attribute_difference
from halocline.checkpoints.index import index
from halocline.checkpoints.index.background_reading import REST, read_stretch
from halocline.checkpoints.index.index import Stamp, freshen_index, index_stamp
from halocline.checkpoints.repository.access import StoreAccess
from halocline.checkpoints.saved import AFTER, FIRST, FOUND, CheckpointInfo, Limits, Saved
from halocline.checkpoints.selection import left_out as skipping
from halocline.checkpoints.store import layout, refs
from halocline.checkpoints.store.git import Git, GitFailed, Runner
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.objects import write_commit, write_ref
from halocline.checkpoints.store.reading import make_entry
from halocline.checkpoints.store.syncing import sync_store
from halocline.checkpoints.store.trees import find_known, list_differing
from halocline.protocol.errors import HaloclineError


class IndexTree:
    """Writes the tree of the index when it changed."""

    def __init__(self) -> None:
        self._written: tuple[Stamp | None, str] | None = None

    def write(self, git: Git) -> str:
        """Return the hash of the index's tree, which is in the store."""
        if self._written is None or self._written[0] != index_stamp(git):
            tree = git.word("write-tree")
            self._written = (index_stamp(git), tree)
        return self._written[1]

    def freshen(self, git: Git) -> None:
        """Refresh the index; the cached tree stays, because the index still has the same files."""
        is_known = self._written is not None and self._written[0] == index_stamp(git)
        freshen_index(git)
        if is_known and self._written:
            self._written = (index_stamp(git), self._written[1])


T = TypeVar("T")
OnRead = Callable[[], overtaking.Contents]


class Repository(StoreAccess):
    """A store as one task saves and reads checkpoints in it."""

    def __init__(self, store: Path, workspace: Path, task: str, program: str, limits: Limits) -> None:
        super().__init__(store, workspace, task, program, limits)
        self.claims = Claims(self.path.parent, self.workspace, task)
        self._has_saved_unfinished = False
        self._newest: refs.Last | None = None
        self._index_tree = IndexTree()
        self._skipped: skipping.Record | None = None
        self._recorded: skipping.Record | None = None

    def save(
        self,
        label: str,
        paths: Sequence[str] | None,
        on_read: OnRead,
        *,
        always: bool = False,
        asked: float = 0.0,
        patient: bool = False,
    ) -> Saved:
        """Save a checkpoint; `on_read` is called when the files may change again, and returns contents kept of them.

        Without `always`, nothing is saved if nothing changed since the last one. `asked` is the Unix time of the
        request. With `patient`, the task does not wait for it. A damaged index is rebuilt; a damaged store is set
        aside, once, and a new one started.

        Raises:
            GitFailed: git failed, in a new store as well.
            CheckpointsOff: git is missing.
            TakesLong: it is not ready in time; `read_on` reads the rest.
            OSError: the store cannot be written.
        """
        with self.lock_store(self.limits.patience if patient else self.limits.seconds) as git:
            try:
                listing = self._borrow(git)
                return self._save(git, label, paths, on_read, listing, always=always, asked=asked)
            except GitFailed:
                self._newest = None
                (self.path / "index").unlink(missing_ok=True)
            try:
                return self._save(git, label, None, on_read, always=always, asked=asked)
            except GitFailed:
                return self._save_anew(git, label, on_read)

    def _borrow(self, git: Git) -> Sequence[bytes] | None:
        """Start with the index of the project's git; returns the files that differ from it, if known already."""
        if not self.may_borrow or (self.path / "index").exists():
            return None
        from halocline.checkpoints.index.borrowing import borrow_index  # once per store

        return borrow_index(git, self.limits.largest)

    def read_on(self) -> None:
        """Read everything that a checkpoint would have to read into the index, however long that takes.

        The lock is released every few seconds, for other processes that save.

        Raises:
            CheckpointsOff, GitFailed, OSError: it cannot be done.
        """
        while not self._read_a_stretch():
            time.sleep(REST)

    def _read_a_stretch(self) -> bool:
        with self.lock_store(self.limits.patience) as git:
            self._borrow(git)
            return read_stretch(git, self.limits.largest)

    def freshen(self) -> None:
        """Refresh index entries of files that only look changed; git would otherwise read them at every scan.

        Raises:
            HaloclineError, OSError: the index stays as it was.
        """
        with self.lock_store(self.limits.seconds) as git:
            self._index_tree.freshen(git)

    def keep(self, paths: Sequence[str]) -> overtaking.Contents | None:
        """The contents of these files before they change; None if a checkpoint must read them first."""
        return overtaking.keep_contents(self.workspace, paths, self.limits.largest)

    def find_places(self, paths: Iterable[str]) -> set[index.Path]:
        """Return the places of files in the workspace, and of those that links lead to."""
        return index.find_places(os.fsencode(self.workspace), paths)

    def has_saved(self, paths: Sequence[str]) -> bool:
        """True if the newest checkpoint has these files as they are now, as far as that is known without its lock."""
        if self._newest is None or (contents := self.keep(paths)) is None:
            return False
        newest = self._newest.tree
        try:
            return all(find_known(self._trees, newest, place) == make_entry(kept) for place, kept in contents.items())
        except KeyError:
            return False

    def hold(self, paths: Sequence[str], asked: float) -> overtaking.Contents | None:
        """The same for the checkpoint requested at `asked`; if this process dies, the next one saves it."""
        contents = self.keep(paths)
        with suppress(OSError):
            for place, kept in (contents or {}).items():
                self.claims.kept(place, overtaking.store_contents(self.path, kept), asked)
        return contents

    def save_now(self, git: Git, label: str, *, always: bool = False) -> Saved:
        """Save a checkpoint with the lock held; never sets the store aside."""
        return self._with_index(lambda: self._save(git, label, None, dict, always=always))

    def _with_index(self, work: Callable[[], T]) -> T:
        """Run something that reads the index; if the index is damaged, delete it and run again."""
        try:
            return work()
        except GitFailed:
            self._newest = None
            (self.path / "index").unlink(missing_ok=True)
            return work()

    def list(self, task: str | None) -> tuple[CheckpointInfo, ...]:
        """The checkpoints of one task or of all, oldest first, without those saved after restores."""
        self.take_left_store()
        if not self.path.exists():
            return ()
        if os.path.lexists(self.path / JOURNAL) or not self.path.is_dir():
            with self.read():  # this repairs it
                pass
        try:
            found = refs.list_checkpoints(self.bind_git(self.limits.patience, Runner(), None), task)
        except GitFailed:
            with self.read() as git:
                found = refs.list_checkpoints(git, task)
        return tuple(info for info in found if not info.label.startswith(AFTER))

    def newest_with(self, git: Git, commit: str) -> refs.Newest:
        """The newest checkpoint of a task that contains this one, preferably ours. Raises UsageError if none does."""
        with suppress(GitFailed):  # a commit between them is missing
            if (last := self._last(git)) and not git.word("rev-list", "--max-count=1", commit, f"^{last.sha}"):
                return refs.Newest(last.sha, last.after_loss)
        return refs.newest_of_others(git, commit)

    def attribute_present(self, git: Git, newest: refs.Newest, present: str, since: float) -> Attribution:
        """Attribute what changed between a task's newest checkpoint and now; `since` as in `attribute_difference`."""
        return UNKNOWN if newest.after_loss else attribute_difference(git, self.claims, newest.sha, present, since)

    def adopt(self, target: str) -> None:
        """Continue our checkpoints from another task's. Raises UsageError."""
        with self.opened() as git:
            sha = self.resolve(git, target)
            sync_store(self.path)
            write_ref(self.path, f"{self._refs}/1", sha)
        self.claims.note_known(sha)

    def present(self, git: Git) -> tuple[str, frozenset[index.Path]]:
        """The tree of the workspace as it is now, and the files left out of it."""
        left_out = self._with_index(lambda: index.update_index(git, self.limits.largest))
        return git.word("write-tree"), left_out

    def resolve(self, git: Git, target: str) -> str:
        """The commit for a number within the task, `task/n` or a hash. Raises UsageError if there is none."""
        return refs.resolve_name(git, target, (f"{self._refs}/{target}", f"{refs.REFS}/{target}", target))

    def _save(
        self,
        git: Git,
        label: str,
        paths: Sequence[str] | None,
        on_read: OnRead,
        listing: Sequence[bytes] | None = None,
        *,
        always: bool = False,
        asked: float = 0.0,
    ) -> Saved:
        before = self.save_unfinished(git, on_read)
        last, since = self._last(git), self.claims.last_look()
        asked, known = asked or time.time(), (last.tree,) if last else ()
        left_out: frozenset[index.Path] | None = None
        if paths is not None and last and (contents := self.keep(paths)) is not None:
            # Kept contents are older than those just read.
            contents = {**contents, **on_read()}
            tree = overtaking.change_tree(git, last.tree, contents)
        else:
            wanted, left_out = index.scan_index(git, self.limits.largest, listing)
            contents = overtaking.read_few(self.workspace, wanted)
            if contents is None:
                index.add_paths(git, wanted, self.limits.largest, index.in_time(git.deadline))
            contents = {**(contents or {}), **on_read()}
            tree = overtaking.change_tree(git, self._index_tree.write(git), contents, *known, sure=wanted)
            layout.note_unread(self.path, 0)
        saved = partial(Saved, left_out=left_out or frozenset(), missing=last.missing if last else (), before=before)
        if last is not None and last.tree == tree and not always:
            self.claims.looked(asked)
            return saved(last.sha, is_new=False)
        if left_out is not None:  # files may change again, but what changes is kept before
            self._skipped = skipping.with_kept(git, tree, skipping.list_skipped(git, left_out), on_read)
        by = Attribution() if last is None else UNKNOWN
        if last is not None and not last.after_loss:
            by = attribute_between(self.claims, dict(list_differing(git, last.tree, tree)), (since, asked), contents)
        sha = self._commit(tree, last, label, by).sha
        self.claims.looked(asked)
        return saved(sha, is_new=True)

    def _commit(self, tree: str, last: refs.Last | None, label: str, by: Attribution) -> refs.Last:
        parent, n = (last.sha, last.n + 1) if last is not None else (None, 1)
        is_told = self._skipped is None or self._recorded == self._skipped
        more = "" if is_told else skipping.format_record(self._skipped or ())
        sha = write_commit(self.path, tree, parent, format_message(label, by, more), int(time.time()))
        sync_store(self.path)
        write_ref(self.path, f"{self._refs}/{n}", sha)
        self._recorded = self._skipped
        self._newest = refs.Last(sha, tree, n)
        return self._newest

    def save_unfinished(self, git: Git, on_read: OnRead = dict) -> tuple[tuple[str, str], ...]:
        """Save the checkpoint that a dead process could not; returns checkpoints that the task does not know yet."""
        if self._has_saved_unfinished:
            return ()
        self._has_saved_unfinished, last = True, self._last(git)
        untold = ((last.sha, FIRST),) if last and last.n == 1 and not self.claims.is_known(last.sha) else ()
        if not (unsaved := self.claims.read_unsaved()):
            return untold
        tree = overtaking.with_unsaved(
            git, last.tree if last else overtaking.change_tree(git, self.present(git)[0], on_read()), unsaved
        )
        label, is_same = (FOUND, tree == last.tree) if last else (FIRST, False)
        return untold if is_same else (*untold, (self._commit(tree, last, label, Attribution()).sha, label))

    def _last(self, git: Git) -> refs.Last | None:
        if self._newest is not None and refs.is_newest(self.path / self._refs, self._newest.n):
            return self._newest
        has_refs = (self.path / self._refs).exists() or (self.path / "packed-refs").exists()
        return refs.read_newest(git, self._refs) if has_refs else None

    def _save_anew(self, git: Git, label: str, on_read: OnRead) -> Saved:
        aside = layout.put_aside(self.path, time.time())
        layout.prepare_store(self.path, self.workspace)
        try:
            return replace(self._save(git, label, None, on_read), aside=aside)
        except HaloclineError:
            # The new one fails as well, so the old one was not the problem.
            layout.bring_back(aside, self.path)
            raise
