"""What a store needs when nobody waits for it: objects of its own, and no objects of tasks that are gone.

All of it may be broken off at any time, and is taken up by whoever comes next.
"""

import os
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.store import layout
from halocline.checkpoints.store.git import Git, GitFailed

# A commit, and whatever a checkpoint that is being made just now has read already.
_EVERYTHING = ("--all", "--indexed-objects")
# What is packed is copied as it is; searching for smaller forms is not worth a person's battery.
_AS_IT_IS = ("--window=0", "--threads=1")
_PACKS = "objects/pack"
_MARK = "garbage"
_MANY = 20


def is_borrowing(store: Path) -> bool:
    """Whether objects of this store are the project's."""
    return layout.alternates_file(store).exists()


def copy_borrowed(git: Git) -> None:
    """Copy into the store what it needs of the project's objects. It only adds, so it needs no lock.

    Raises:
        GitFailed: an object is nowhere.
    """
    _apart_from_folder(git).run("pack-objects", "-q", *_EVERYTHING, *_AS_IT_IS, str(git.store / _PACKS / "pack"))


def _apart_from_folder(git: Git) -> Git:
    """Return one that does not need the folder, which may be gone."""
    return replace(git, enters_workspace=False)


def stand_alone(git: Git) -> bool:
    """Let go of the project's objects if the store has all that it needs. Call it with the store's lock in hand."""
    with layout.without_alternates(git.store) as keep:
        try:
            _apart_from_folder(git).run("rev-list", "--objects", "--quiet", *_EVERYTHING)
        except GitFailed:
            return False
        keep()
    return True


def has_garbage(store: Path) -> bool:
    """Whether references were taken away, or very many objects lie about singly; a 256th of them is looked at."""
    sample = store / "objects" / "17"
    return (store / _MARK).exists() or (sample.is_dir() and len(os.listdir(sample)) > _MANY)


def mark_garbage(store: Path) -> None:
    """Remember that something can be freed."""
    (store / _MARK).touch(mode=0o600)


def gather_objects(git: Git) -> str:
    """Put all that is needed into one pack, and give its name. It only adds, so it needs no lock and may take long.

    Raises:
        GitFailed: an object is nowhere, or another process freed it meanwhile.
    """
    return git.word("pack-objects", "-q", *_EVERYTHING, "--local", *_AS_IT_IS, str(git.store / _PACKS / "pack"))


def free_objects(git: Git, gathered: str) -> None:
    """Free what no reference and no index needs. Call it with the store's lock in hand.

    Nobody else writes objects meanwhile, so that what is not needed now is not about to be. What was gathered before
    stays as it is, so that only the little that came since has to be packed.
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
