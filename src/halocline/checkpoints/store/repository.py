"""The store of one workspace: a bare git repository of our own with its own index; the project's git is not involved.

Every method blocks and belongs in a thread. The index is only used with the store's lock held, so processes take turns.
A checkpoint is a commit under `refs/halocline/<task>/<n>`; its message is the label.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from halocline.checkpoints.changes import attribution
from halocline.checkpoints.changes.attribution import Attribution
from halocline.checkpoints.changes.claims import Claims, trim_file
from halocline.checkpoints.changes.overtaking import (
    Contents,
    change_tree,
    keep_contents,
    read_few,
    store_contents,
    with_unsaved,
)
from halocline.checkpoints.saved import (
    CheckpointInfo as CheckpointInfo,
    Last,
    Limits as Limits,
    Saved as Saved,
    is_newest,
    newest_of_others,
    read_listed,
    read_newest,
    resolve_name,
)
from halocline.checkpoints.store import index, layout, lock, upkeep
from halocline.checkpoints.store.background_reading import REST, read_stretch
from halocline.checkpoints.store.git import Git, GitFailed, Runner, TakesLong
from halocline.checkpoints.store.objects import write_commit, write_ref
from halocline.checkpoints.store.trees import list_differing
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.file_locks import LockHeld

if TYPE_CHECKING:
    from halocline.checkpoints.restore.compare import Comparison

T = TypeVar("T")
_REFS = "refs/halocline"
BEFORE, AFTER = "Before restoring ", "After restoring "
"""Prefixes of the labels of the checkpoints around a restore."""
FIRST, FOUND = "Start", "Found changed"
"""Labels of the checkpoint at the start or reopening of a task, and of changes that somebody else made."""
JOURNAL = "restoring.json"
"""File name of the journal of a running restore."""

OnRead = Callable[[], Contents]


class Repository:
    """Saves and reads checkpoints. `store` is the folder with the stores of all workspaces."""

    def __init__(self, store: Path, workspace: Path, task: str, program: str, limits: Limits) -> None:
        self.workspace = Path(os.path.realpath(workspace))
        name = hashlib.sha256(os.fsencode(self.workspace)).hexdigest()[:16]
        self.path = Path(os.path.realpath(store)) / name
        self._refs = f"{_REFS}/{task}"
        self._program = program
        self._limits = limits
        self._runner = Runner()
        # Message about a restore that another process left unfinished; usually empty.
        self.mended = ""
        self._keeper = Runner()
        self.claims = Claims(self.path.parent, self.workspace, task)
        self._task = task
        self._may_borrow = True
        self._has_saved_unfinished = False
        self._newest: Last | None = None
        self._written: tuple[index.Stamp | None, str] | None = None

    def stop(self) -> None:
        """Stop what other threads do here, and refuse everything else that needs the lock."""
        self._runner.stop()
        self._keeper.stop()

    def keep_up(self) -> None:
        """Do pending upkeep. Copying the project's objects blocks nobody; freeing space blocks for a while.

        Raises:
            HaloclineError, OSError: try again later.
        """
        self.stand_alone()
        trim_file(self.path.parent)
        if upkeep.has_garbage(self.path):
            gathered = upkeep.gather_objects(self._bound(self._limits.patience, self._keeper, None))
            with self._held(self._limits.seconds, self._keeper) as git:
                upkeep.free_objects(git, gathered)

    @property
    def is_borrowing(self) -> bool:
        """True if checkpoints need objects of the project's git."""
        return upkeep.is_borrowing(self.path)

    def stand_alone(self) -> None:
        """Copy the objects that checkpoints need from the project's git, if possible; mostly without the lock.

        Raises:
            HaloclineError, OSError: try again later.
        """
        if not self.is_borrowing or not os.access(self.path.parent, os.W_OK):
            return
        try:
            upkeep.copy_borrowed(self._bound(self._limits.patience, self._keeper, None))
        except GitFailed:
            self._give_back()
            raise
        with self._held(self._limits.seconds, self._keeper) as git:
            if self.is_borrowing:
                upkeep.stand_alone(git)

    def _give_back(self) -> None:
        """Stop borrowing, because a borrowed object is gone: the next checkpoint reads the files instead."""
        with self._held(self._limits.seconds, self._keeper):
            self._may_borrow = False
            (self.path / "index").unlink(missing_ok=True)
            layout.set_alternate(self.path, None)

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
        with self._held(self._limits.patience if patient else self._limits.seconds) as git:
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
        if not self._may_borrow or (self.path / "index").exists():
            return None
        from halocline.checkpoints.store.borrowing import borrow_index  # once per store

        return borrow_index(git, self._limits.largest)

    def read_on(self) -> None:
        """Read everything that a checkpoint would have to read into the index, however long that takes.

        The lock is released every few seconds, for other processes that save.

        Raises:
            CheckpointsOff, GitFailed, OSError: it cannot be done.
        """
        while not self._read_a_stretch():
            time.sleep(REST)

    def _read_a_stretch(self) -> bool:
        with self._held(self._limits.patience) as git:
            self._borrow(git)
            return read_stretch(git, self._limits.largest)

    def freshen(self) -> None:
        """Refresh index entries of files that only look changed; git would otherwise read them at every scan.

        Raises:
            HaloclineError, OSError: the index stays as it was.
        """
        with self._held(self._limits.seconds) as git:
            is_known = self._written is not None and self._written[0] == index.index_stamp(git)
            index.freshen_index(git)
            if is_known and self._written:  # it still has the same files
                self._written = (index.index_stamp(git), self._written[1])

    def keep(self, paths: Sequence[str]) -> Contents | None:
        """The contents of these files before they change; None if a checkpoint must read them first."""
        return keep_contents(self.workspace, paths, self._limits.largest)

    def hold(self, paths: Sequence[str], asked: float) -> Contents | None:
        """The same for the checkpoint requested at `asked`; if this process dies, the next one saves it."""
        contents = self.keep(paths)
        with suppress(OSError):
            for place, kept in (contents or {}).items():
                self.claims.kept(place, store_contents(self.path, kept), asked)
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
        if not self.path.exists():
            return ()
        pattern = f"{_REFS}/{task}/" if task else f"{_REFS}/"
        fields = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)"
        if os.path.lexists(self.path / JOURNAL) or not self.path.is_dir():
            with self.read():  # this repairs it
                pass
        git = self._bound(self._limits.patience, Runner(), None)
        asked = ("for-each-ref", "--sort=version:refname", f"--format={fields}", pattern)
        try:
            listing = git.run(*asked)
        except GitFailed:
            with self.read() as git:
                listing = git.run(*asked)
        found = (read_listed(line) for line in listing.decode(errors="replace").split("\n")[:-1])
        return tuple(info for info in found if not info.label.startswith(AFTER))

    def newest_with(self, git: Git, commit: str) -> str:
        """The newest checkpoint of a task that contains this one, preferably ours. Raises UsageError if none does."""
        if (last := self._last(git)) and not git.word("rev-list", "--max-count=1", commit, f"^{last.sha}"):
            return last.sha
        return newest_of_others(git, commit, _REFS)

    def diff(self, old: str, new: str | None) -> str:
        """The unified diff from one checkpoint to another, or to the workspace as it is now. Raises UsageError."""
        with self.read() as git:
            before = self.resolve(git, old)
            after = self.resolve(git, new) if new is not None else self.present(git)[0]
            options = ("-r", "-p", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv")
            return git.run("diff-tree", *options, before, after).decode(errors="replace")

    def adopt(self, target: str) -> None:
        """Continue our checkpoints from another task's. Raises UsageError."""
        with self.opened() as git:
            write_ref(self.path, f"{self._refs}/1", sha := self.resolve(git, target))
        self.claims.note_known(sha)

    def export(self, target: str, folder: Path) -> None:
        """Write the files of a checkpoint to a folder. Raises UsageError, and NotRestored if one already exists."""
        with self.opened() as git:
            from halocline.checkpoints.restore.apply import write_tree

            write_tree(git, self.resolve(git, target), folder)

    def compare(self, old: str, new: str | None, root: str = "") -> "Comparison":
        """Compare two checkpoints, or one and the workspace as it is now. Raises UsageError."""
        from halocline.checkpoints.restore.compare import compare_trees

        with self.read() as git:
            before = self.resolve(git, old)
            return compare_trees(git, before, self.resolve(git, new) if new is not None else self.present(git)[0], root)

    def present(self, git: Git) -> tuple[str, frozenset[index.Path]]:
        """The tree of the workspace as it is now, and the files left out of it."""
        left_out = self._with_index(lambda: index.update_index(git, self._limits.largest))
        return git.word("write-tree"), left_out

    def resolve(self, git: Git, target: str) -> str:
        """The commit for a number within the task, `task/n` or a hash. Raises UsageError if there is none."""
        return resolve_name(git, target, (f"{self._refs}/{target}", f"{_REFS}/{target}", target))

    def opened(self) -> AbstractContextManager[Git]:
        """Hold the lock of the store, for a request by a person. Raises UsageError if there is no store."""
        if not self.path.exists():
            raise UsageError(f"There are no checkpoints of {self.workspace}.")
        return self._held(self._limits.patience)

    @contextmanager
    def read(self) -> Iterator[Git]:
        """Open the store for reading; as a copy, if the store is not writable.

        Raises UsageError if there is no store.
        """
        if not self.path.exists() or os.access(self.path.parent, os.W_OK):
            with self.opened() as git:
                yield git
            return
        from halocline.checkpoints.store.read_only import copy_store

        if os.path.lexists(self.path / JOURNAL):
            self.mended = "A restore was interrupted here; it will be undone once Halocline's home is writable."
        with copy_store(self.path) as copy:
            yield replace(self._bound(self._limits.patience, self._runner, None), store=copy)

    @contextmanager
    def _held(self, seconds: float, runner: Runner | None = None) -> Iterator[Git]:
        """Hold the lock of the store, created if missing, and yield a git bound to both.

        Raises TakesLong when another process holds the lock all the time.
        """
        runner = runner or self._runner
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with lock.hold_lock(self.path.with_suffix(".lock"), time.monotonic() + seconds, runner.check) as held:
                layout.mend_store(self.path)
                is_changed = layout.prepare_store(self.path, self.workspace)
                # We hold the lock, so no git of ours is running.
                layout.clear_up(self.path, self._refs)
                git = self._bound(seconds, runner, held)
                if os.path.lexists(self.path / JOURNAL):
                    self.mended = self._mend(git, runner)
                if is_changed and (self.path / "index").exists():
                    with suppress(GitFailed):  # the next reader of the index finds the same and repairs it
                        index.drop_ignored(git)
                yield git
        except LockHeld as error:
            raise TakesLong(str(error), "") from None

    def _mend(self, git: Git, runner: Runner) -> str:
        """Undo an interrupted restore, here and in the other stores that it was changing."""
        from halocline.checkpoints.restore.apply import mend_restore, others_of

        for other, workspace in others_of(self.path):
            now = time.monotonic()
            # The holder of that lock does the same for us, so neither waits for the other.
            with suppress(TimeoutError, OSError), lock.hold_lock(other.with_suffix(".lock"), now, runner.check) as held:
                mend_restore(Git(self._program, other, workspace, now + self._limits.patience, runner, held))
        return mend_restore(git)

    def _bound(self, seconds: float, runner: Runner, held: int | None) -> Git:
        return Git(self._program, self.path, self.workspace, time.monotonic() + seconds, runner, held)

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
        asked = asked or time.time()
        known = (last.tree,) if last else ()
        left_out: frozenset[index.Path] = frozenset()
        if paths is not None and last and (contents := self.keep(paths)) is not None:
            # Kept contents are older than those just read.
            contents = {**contents, **on_read()}
            tree = change_tree(git, last.tree, contents)
        else:
            wanted, left_out = index.scan_index(git, self._limits.largest, listing)
            contents = read_few(self.workspace, wanted)
            if contents is None:
                index.add_paths(git, wanted, self._limits.largest, index.in_time(git.deadline))
            contents = {**(contents or {}), **on_read()}
            tree = change_tree(git, self._tree(git), contents, *known, sure=wanted)
            layout.note_unread(self.path, 0)
        if last is not None and last.tree == tree and not always:
            self.claims.looked(asked)
            return Saved(last.sha, is_new=False, left_out=left_out, before=before)
        by = (
            self._attribute_between(dict(list_differing(git, last.tree, tree)), (since, asked), contents)
            if last
            else Attribution()
        )
        sha = self._commit(tree, last, label, by).sha
        self.claims.looked(asked)
        return Saved(sha, is_new=True, left_out=left_out, before=before)

    def _commit(self, tree: str, last: Last | None, label: str, by: Attribution) -> Last:
        parent, n = (last.sha, last.n + 1) if last is not None else (None, 1)
        sha = write_commit(self.path, tree, parent, attribution.format_message(label, by), int(time.time()))
        write_ref(self.path, f"{self._refs}/{n}", sha)
        self._newest = Last(sha, tree, n)
        return self._newest

    def save_unfinished(self, git: Git, on_read: OnRead = dict) -> tuple[tuple[str, str], ...]:
        """Save the checkpoint that a dead process could not; returns checkpoints that the task does not know yet."""
        if self._has_saved_unfinished:
            return ()
        self._has_saved_unfinished, last = True, self._last(git)
        untold = ((last.sha, FIRST),) if last and last.n == 1 and not self.claims.is_known(last.sha) else ()
        if not (unsaved := self.claims.read_unsaved()):
            return untold
        tree = with_unsaved(git, last.tree if last else change_tree(git, self.present(git)[0], on_read()), unsaved)
        label, is_same = (FOUND, tree == last.tree) if last else (FIRST, False)
        return untold if is_same else (*untold, (self._commit(tree, last, label, Attribution()).sha, label))

    def attribution(self, git: Git, old: str, new: str, since: float) -> Attribution:
        """Attribute the differences of two commits or trees; `since` is the Unix time of the task's last scan."""
        trees = [git.word("rev-parse", f"{one}^{{tree}}") for one in (old, new)]
        return self._attribute_between(dict(list_differing(git, *trees)), (since, time.time()), {})

    def _attribute_between(
        self, found: Mapping[index.Path, tuple[str, str]], between: tuple[float, float], contents: Contents
    ) -> Attribution:
        """The same between two scans; `contents` know when they were read."""
        since, root = between[0], os.fsencode(self.workspace)

        def changed_at(path: index.Path) -> int:
            kept = contents.get(path)
            is_of_then = kept is not None and kept.changed_at / 1e9 >= since
            return kept.changed_at if kept and is_of_then else attribution.changed_at(root, path, since)

        # Read only now: a task that changed something while the files were read has recorded it before.
        claims = self.claims.since(since - attribution.NEAR)
        looks = self.claims.looks_of_others(since - attribution.NEAR)
        return attribution.attribute_changes(found, root, self._task, claims, changed_at, between, looks)

    def _tree(self, git: Git) -> str:
        """The tree of the index, cached while the index is unchanged."""
        if self._written is None or self._written[0] != index.index_stamp(git):
            tree = git.word("write-tree")
            self._written = (index.index_stamp(git), tree)
        return self._written[1]

    def _last(self, git: Git) -> Last | None:
        if self._newest is not None and is_newest(self.path / self._refs, self._newest.n):
            return self._newest
        has_refs = (self.path / self._refs).exists() or (self.path / "packed-refs").exists()
        return read_newest(git, self._refs) if has_refs else None

    def _save_anew(self, git: Git, label: str, on_read: OnRead) -> Saved:
        aside = layout.put_aside(self.path, time.time())
        layout.prepare_store(self.path, self.workspace)
        try:
            return replace(self._save(git, label, None, on_read), aside=aside)
        except HaloclineError:
            # The new one fails as well, so the old one was not the problem.
            layout.bring_back(aside, self.path)
            raise
