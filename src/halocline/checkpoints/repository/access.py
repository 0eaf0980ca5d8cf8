"""Opens the store of a workspace: takes its lock, creates or repairs it, and undoes an interrupted restore first."""

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from msgspec.structs import replace

from halocline.checkpoints.index import index
from halocline.checkpoints.repository import renamed
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store import layout, lock
from halocline.checkpoints.store.entries import KnownTrees
from halocline.checkpoints.store.git import Git, GitFailed, Runner, TakesLong
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.refs import REFS
from halocline.checkpoints.store.tracked import Tracked
from halocline.checkpoints.store.unreported import forget_untold, read_untold
from halocline.protocol.errors import UsageError
from halocline.protocol.file_locks import LockHeld


def place_store(folder: Path, workspace: Path) -> Path:
    """Return the path of a workspace's store in the folder of all stores."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:16]
    return Path(os.path.realpath(folder)) / name


class StoreAccess:
    """A workspace's store, as a task opens it. `store` is the folder with the stores of all workspaces."""

    def __init__(self, store: Path, workspace: Path, task: str, program: str, limits: Limits) -> None:
        self.workspace = Path(os.path.realpath(workspace))
        self.path = place_store(store, self.workspace)
        self.limits = limits
        # Message about a restore that another process left unfinished, or did not report; usually empty.
        self.mended = ""
        # False once a borrowed object was gone.
        self.may_borrow = True
        self._refs = f"{REFS}/{task}"
        self._program = program
        self._is_placed = False
        self._runner = Runner()
        self._prepared: tuple[int, ...] = ()
        self._trees: KnownTrees = {}
        self._tracked = Tracked(self.workspace)

    def stop(self) -> None:
        """Stop what other threads do here, and refuse everything else that needs the lock."""
        self._runner.stop()

    def take_left_store(self, seconds: float | None = None, runner: Runner | None = None) -> None:
        """Take along the store of a folder that was renamed, once. Raises TakesLong and UsageError."""
        if self._is_placed or (left := renamed.find_left_store(self.path, self.workspace)) is None:
            self._is_placed = True
            return
        if not os.access(self.path.parent, os.W_OK):
            self.path = left
            return
        patience = self.limits.patience if seconds is None else seconds
        try:
            renamed.take_along(
                self.path, left, self.workspace, patience, (runner or self._runner).check, _is_unfinished
            )
        except LockHeld as error:
            raise TakesLong(str(error), "") from None
        self._is_placed = True

    def opened(self) -> AbstractContextManager[Git]:
        """Hold the lock of the store, for a request by a person. Raises UsageError if there is no store."""
        self.take_left_store()
        if not self.path.exists():
            raise UsageError(f"There are no checkpoints of {self.workspace}.")
        return self.lock_store(self.limits.patience)

    @contextmanager
    def read(self) -> Iterator[Git]:
        """Open the store for reading; as a copy, if the store is not writable.

        Raises UsageError if there is no store.
        """
        self.take_left_store()
        if not self.path.exists() or os.access(self.path.parent, os.W_OK):
            with self.opened() as git:
                yield git
            return
        from halocline.checkpoints.store.read_only import copy_store  # homes are seldom read-only

        if os.path.lexists(self.path / JOURNAL):
            self.mended = "A restore was interrupted here; it will be undone once Halocline's home is writable."
        with copy_store(self.path) as copy:
            yield replace(self.bind_git(self.limits.patience, self._runner, None), store=copy)

    @contextmanager
    def lock_store(self, seconds: float, runner: Runner | None = None) -> Iterator[Git]:
        """Hold the lock of the store, created if missing, and yield a git bound to both.

        Raises TakesLong when another process holds the lock all the time.
        """
        runner = runner or self._runner
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.take_left_store(seconds, runner)
        try:
            with lock.hold_lock(self.path.with_suffix(".lock"), time.monotonic() + seconds, runner.check) as held:
                if not self.path.exists() and not self.workspace.is_dir():
                    raise UsageError(f"The folder {self.workspace} no longer exists.")
                layout.mend_store(self.path)
                is_changed = self._prepare_store()
                # We hold the lock, so no git of ours is running.
                layout.clear_up(self.path, self._refs)
                git = self.bind_git(seconds, runner, held)
                if os.path.lexists(self.path / JOURNAL):
                    self._mend(git, runner)
                self.mended = read_untold(self.path)
                if is_changed and (self.path / "index").exists():
                    with suppress(GitFailed):  # the next reader of the index finds the same and repairs it
                        index.drop_ignored(git)
                yield git
        except LockHeld as error:
            raise TakesLong(str(error), "") from None

    def _prepare_store(self) -> bool:
        """Create or correct the store unless it is as it was left. True if the rules for files to leave out changed."""
        if self._prepared and self._prepared == layout.stamp_store(self.path, self.workspace):
            return False
        is_changed = layout.prepare_store(self.path, self.workspace)
        self._prepared = layout.stamp_store(self.path, self.workspace)
        return is_changed

    def forget_mended(self) -> None:
        """Forget the message about a restore: a person was told."""
        self.mended = ""
        forget_untold(self.path)

    def _mend(self, git: Git, runner: Runner) -> None:
        """Undo an interrupted restore, here and in the other stores that it was changing."""
        recovery = _load_recovery()
        for other, workspace in recovery.others_of(self.path):
            now = time.monotonic()
            # The holder of that lock does the same for us, so neither waits for the other.
            with suppress(TimeoutError, OSError), lock.hold_lock(other.with_suffix(".lock"), now, runner.check) as held:
                recovery.mend_restore(Git(self._program, other, workspace, now + self.limits.patience, runner, held))
        recovery.mend_restore(git)

    def bind_git(self, seconds: float, runner: Runner, held: int | None) -> Git:
        """A git for the store, with a deadline in `seconds`; `held` is the descriptor of the lock, if it is held."""
        deadline = time.monotonic() + seconds
        return Git(
            self._program, self.path, self.workspace, deadline, runner, held, trees=self._trees, tracked=self._tracked
        )


def _is_unfinished(store: Path) -> bool:
    """True if a restore of several folders with this store was interrupted."""
    return os.path.lexists(store / JOURNAL) and any(_load_recovery().others_of(store))


def _load_recovery() -> ModuleType:
    from halocline.checkpoints.recovery import recovery  # restores seldom die

    return recovery
