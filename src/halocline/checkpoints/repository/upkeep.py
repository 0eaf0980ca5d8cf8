"""Maintenance of a store in the background: copies borrowed objects, frees those of deleted tasks.

All of it can be interrupted at any time; the next user of the store continues it.
"""

import os
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.changes.claims import trim_file
from halocline.checkpoints.repository.access import StoreAccess
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.git import Git, GitFailed, Runner

# All commits, and objects already read by a checkpoint that is being saved.
_EVERYTHING = ("--all", "--indexed-objects")
# Packed objects are copied as they are; searching for smaller deltas is not worth the battery.
_AS_IT_IS = ("--window=0", "--threads=1")
_PACKS = "objects/pack"
_MARK = "garbage"
_MANY = 20


class Upkeep:
    """The upkeep of one store, with a runner of its own: the task does not wait for it."""

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._runner = Runner()

    def stop(self) -> None:
        """Stop what other threads do here."""
        self._runner.stop()

    def keep_up(self) -> None:
        """Do pending upkeep. Copying the project's objects blocks no one; freeing space blocks for a while.

        Raises:
            HaloclineError, OSError: try again later.
        """
        self.stand_alone()
        trim_file(self._access.path.parent)
        if has_garbage(self._access.path):
            gathered = gather_objects(self._access.bind_git(self._access.limits.patience, self._runner, None))
            with self._access.lock_store(self._access.limits.seconds, self._runner) as git:
                free_objects(git, gathered)

    def stand_alone(self) -> None:
        """Copy the objects that checkpoints need from the project's git, if possible; mostly without the lock.

        Raises:
            HaloclineError, OSError: try again later.
        """
        if not self.is_borrowing or not os.access(self._access.path.parent, os.W_OK):
            return
        try:
            copy_borrowed(self._access.bind_git(self._access.limits.patience, self._runner, None))
        except GitFailed:
            self._give_back()
            raise
        with self._access.lock_store(self._access.limits.seconds, self._runner) as git:
            if self.is_borrowing:
                stand_alone(git)

    def _give_back(self) -> None:
        """Stop borrowing, because a borrowed object is gone: the next checkpoint reads the files instead."""
        with self._access.lock_store(self._access.limits.seconds, self._runner):
            self._access.may_borrow = False
            (self._access.path / "index").unlink(missing_ok=True)
            layout.set_alternate(self._access.path, None)

    @property
    def is_borrowing(self) -> bool:
        """True if checkpoints need objects of the project's git."""
        return is_borrowing(self._access.path)


def is_borrowing(store: Path) -> bool:
    """True if the store uses objects of the project's git."""
    return layout.alternates_file(store).exists()


def copy_borrowed(git: Git) -> None:
    """Copy the project's objects that the store needs. It only adds, so it needs no lock.

    Raises:
        GitFailed: an object is missing.
    """
    _apart_from_folder(git).run("pack-objects", "-q", *_EVERYTHING, *_AS_IT_IS, str(git.store / _PACKS / "pack"))


def _apart_from_folder(git: Git) -> Git:
    """Return a git that does not need the workspace, which may be gone."""
    return replace(git, enters_workspace=False)


def stand_alone(git: Git) -> bool:
    """Stop using the project's objects if the store has all it needs. The store's lock must be held."""
    with layout.without_alternates(git.store) as keep:
        try:
            _apart_from_folder(git).run("rev-list", "--objects", "--quiet", *_EVERYTHING)
        except GitFailed:
            return False
        keep()
    return True


def has_garbage(store: Path) -> bool:
    """True if references were deleted, or if there are very many single objects, judged by a 256th of them."""
    sample = store / "objects" / "17"
    return (store / _MARK).exists() or (sample.is_dir() and len(os.listdir(sample)) > _MANY)


def mark_garbage(store: Path) -> None:
    """Remember that something can be freed."""
    (store / _MARK).touch(mode=0o600)


def gather_objects(git: Git) -> str:
    """Put all needed objects into one pack and return its name. It only adds, so it needs no lock and may take long.

    Raises:
        GitFailed: an object is missing, or another process freed it meanwhile.
    """
    return git.word("pack-objects", "-q", *_EVERYTHING, "--local", *_AS_IT_IS, str(git.store / _PACKS / "pack"))


def free_objects(git: Git, gathered: str) -> None:
    """Free objects that no reference and no index needs. The store's lock must be held.

    So no other process writes objects meanwhile, and what is not needed now is not about to be. The pack gathered
    before is kept, so that only the few newer objects have to be packed.
    """
    for stale in (git.store / _PACKS).glob("*.keep"):
        stale.unlink(missing_ok=True)
    keep = git.store / _PACKS / f"pack-{gathered}.keep"
    if keep.with_suffix(".pack").exists():
        keep.touch(mode=0o600)
    try:
        git.run("repack", "-a", "-d", "-l", "-q", "--window=0")
    finally:
        keep.unlink(missing_ok=True)
    git.run("prune", "--expire=now")
    (git.store / _MARK).unlink(missing_ok=True)
