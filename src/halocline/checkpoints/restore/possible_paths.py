"""Finds the files that a restore can change without touching anything unknown to the store."""

import os
import stat
from collections.abc import Collection, Iterable

from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.file_changes import walk_below
from halocline.checkpoints.restore.three_way import Sides, is_within
from halocline.checkpoints.store.git import Git
from halocline.files.opening import opened_folder
from halocline.files.target import held_below


def possible_paths(git: Git, wanted: dict[Path, Sides], left_out: Collection[Path]) -> set[Path]:
    """The paths that can be changed without touching anything unknown to the store."""
    root = os.fsencode(git.workspace)
    allowed = {path for path in wanted if not is_within(path, left_out) and _may_change(root, path)}
    deleted = {path for path in allowed if wanted[path][1] is None}
    new = [path for path in allowed if wanted[path][0] is None]
    with opened_folder(os.fsdecode(root)) as folder:
        return allowed - {path for path in new if not _is_free(folder, path, deleted)}


def _may_change(root: bytes, path: Path) -> bool:
    """True if the folder, or the nearest existing one above it, is writable."""
    folder = os.path.dirname(os.path.join(root, path))
    while not os.path.isdir(folder) and len(folder) > len(root):
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK | os.X_OK)


def _is_free(root: int, path: Path, deleted: Collection[Path]) -> bool:
    """True if a file can be created there without touching anything that is not about to be deleted."""
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        place = b"/".join(parts[:depth])
        try:
            with held_below(root, os.fsdecode(place)) as target:
                found = target.find()
        except FileNotFoundError:
            return True
        if found is None:
            return True
        if not stat.S_ISDIR(found.st_mode):
            return place in deleted
    return all(found in deleted for found in _files_below(root, path))


def _files_below(root: int, folder: Path) -> Iterable[Path]:
    for place, names in walk_below(root, os.fsdecode(folder)):
        yield from (os.fsencode(f"{place}/{name}") for name in names)
