"""Puts files back to a checkpoint. What the store does not hold is never overwritten and never deleted.

First the present is saved: that is the undo. Then only differences between it and the target are touched, so ignored
files, files that were left out and everything unknown to the store stay. No link is followed: a file whose way or place
is taken by something unknown is kept as it is, and reported.
"""

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from halocline.checkpoints.git import Git
from halocline.checkpoints.index import Path
from halocline.checkpoints.repository import Repository
from halocline.protocol.values import Value


class RestorePlan(Value, frozen=True):
    """What a restore would do, as paths in the workspace. `kept` differ from the target but are not touched."""

    creates: tuple[str, ...] = ()
    overwrites: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class Restored(Value, frozen=True):
    """What a restore did. `undo` is the checkpoint of how the files were before; `kept` could not be put back."""

    checkpoint: str
    undo: str
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class _Change(Value, frozen=True):
    """One file on the way from the present to the target. `mode` and `blob` are the target's; `status` is git's."""

    path: Path
    mode: bytes
    blob: bytes
    status: bytes


class _Steps(Value, frozen=True):
    creates: Sequence[_Change]
    overwrites: Sequence[_Change]
    deletes: Sequence[_Change]
    kept: Sequence[_Change]

    @property
    def changes(self) -> tuple[_Change, ...]:
        return (*self.deletes, *self.overwrites, *self.creates)


def plan(repository: Repository, target: str) -> RestorePlan:
    """What `restore` would do now. Raises UsageError when there is no such checkpoint."""
    with repository.opened() as git:
        commit = repository.resolve(git, target)
        present, left_out = repository.present(git)
        steps = _steps(git, present, commit, left_out)
    return RestorePlan(
        creates=_texts(steps.creates),
        overwrites=_texts(steps.overwrites),
        deletes=_texts(steps.deletes),
        kept=_texts(steps.kept),
    )


def restore(repository: Repository, target: str) -> Restored:
    """Put the files back to `target`.

    Raises:
        UsageError: there is no such checkpoint.
        GitFailed: the present could not be saved, or the checkpoint cannot be read; nothing was touched.
        CheckpointsOff: git is missing, or the store is busy.
    """
    with repository.opened() as git:
        commit = repository.resolve(git, target)
        undo = repository.save_now(git, f"Before restoring {commit[:10]}")
        steps = _steps(git, undo.sha, commit, undo.left_out)
        failed = _carry_out(git, steps)
    changed = [change for change in steps.changes if change.path not in failed]
    kept = [*steps.kept, *(change for change in steps.changes if change.path in failed)]
    return Restored(checkpoint=commit, undo=undo.sha, changed=_texts(changed), kept=_texts(kept))


def _steps(git: Git, present: str, target: str, left_out: Collection[Path]) -> _Steps:
    root = os.fsencode(git.workspace)
    changes = _changes(git, present, target)
    deleted = {change.path for change in changes if change.status == b"D"}
    creates, overwrites, deletes, kept = [], [], [], []
    for change in changes:
        if _is_within(change.path, left_out):
            kept.append(change)
        elif change.status == b"D":
            deletes.append(change)
        elif change.status != b"A":
            overwrites.append(change)
        elif _is_free(root, change.path, deleted.difference(left_out)):
            creates.append(change)
        else:
            kept.append(change)
    return _Steps(creates, overwrites, deletes, kept)


def _changes(git: Git, present: str, target: str) -> list[_Change]:
    """What must happen to each file that differs."""
    fields = git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", present, target).split(b"\0")
    changes = []
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        _, mode, _, blob, status = head.split(b" ")
        changes.append(_Change(path, mode, blob, status))
    return changes


def _is_within(path: Path, places: Collection[Path]) -> bool:
    """Whether the path or a folder above it is one of the places."""
    while path:
        if path in places:
            return True
        path = path.rpartition(b"/")[0]
    return False


def _is_free(root: bytes, path: Path, deleted: Collection[Path]) -> bool:
    """Whether a file can be made there without touching anything that is not about to be deleted."""
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        place = b"/".join(parts[:depth])
        try:
            mode = os.lstat(os.path.join(root, place)).st_mode
        except FileNotFoundError:
            return True
        if not stat.S_ISDIR(mode):
            return place in deleted
    return all(found in deleted for found in _files_below(root, path))


def _files_below(root: bytes, folder: Path) -> Iterable[Path]:
    for place, folders, files in os.walk(os.path.join(root, folder)):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(place, name), root)


def _carry_out(git: Git, steps: _Steps) -> set[Path]:
    """Change the index, then the files to match it. Gives the files that could not be changed."""
    if not steps.changes:
        return set()
    entries = b"".join(b"%b %b\t%b\0" % (change.mode, change.blob, change.path) for change in steps.changes)
    git.run("update-index", "-z", "--replace", "--index-info", data=entries)
    root = os.fsencode(git.workspace)
    failed = {change.path for change in steps.deletes if not _delete(root, change.path)}
    _check_out(git, steps.overwrites, "--force")
    for change in steps.creates:
        _remove_empty_folders(os.path.join(root, change.path))
    # Without force, whatever appeared at such a place meanwhile is safe.
    _check_out(git, steps.creates)
    differing = set(git.run("ls-files", "-z", "--modified").split(b"\0"))
    return failed | {change.path for change in (*steps.overwrites, *steps.creates) if change.path in differing}


def _check_out(git: Git, changes: Sequence[_Change], *options: str) -> None:
    paths = b"".join(change.path + b"\0" for change in changes)
    # What goes wrong with single files shows when the outcome is compared.
    git.run("checkout-index", "--index", *options, "-z", "--stdin", data=paths, accept=range(256))


def _delete(root: bytes, path: Path) -> bool:
    """Remove a file, and the folders that this leaves empty. No link on the way is followed."""
    full = os.path.join(root, path)
    folder = os.path.dirname(full)
    if os.path.realpath(folder) != folder:
        return False
    try:
        os.unlink(full)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    _prune(root, folder)
    return True


def _remove_empty_folders(place: bytes) -> None:
    """Make room for a file where only empty folders are."""
    for folder, _, _ in os.walk(place, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)


def _prune(root: bytes, folder: bytes) -> None:
    while folder != root:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def _texts(changes: Iterable[_Change]) -> tuple[str, ...]:
    return tuple(change.path.decode(errors="replace") for change in changes)
