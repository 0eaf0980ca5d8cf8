"""Gathers the evidence of who changed files between two scans: recorded claims, and when the files changed."""

import os
import time
from collections.abc import Mapping

from halocline.checkpoints.changes.attribution import NEAR, TICK, Attribution, attribute_changes, may_name
from halocline.checkpoints.changes.claims import Claims
from halocline.checkpoints.changes.overtaking import Contents
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.trees import list_differing


def attribute_difference(git: Git, claims: Claims, old: str, new: str, since: float) -> Attribution:
    """Attribute the differences of two commits or trees; `since` is the Unix time of the task's last scan."""
    trees = [git.word("rev-parse", f"{one}^{{tree}}") for one in (old, new)]
    return attribute_between(claims, dict(list_differing(git, *trees)), (since, time.time()), {})


def attribute_between(
    claims: Claims, changed: Mapping[Path, tuple[str, str]], between: tuple[float, float], contents: Contents
) -> Attribution:
    """Attribute changes between two scans of a task, in Unix seconds; `contents` know when they were read.

    `changed` has git's hashes of each file's old and new content, empty for no file.
    """
    since = between[0]

    def find_time(path: Path) -> int:
        kept = contents.get(path)
        is_of_then = kept is not None and kept.changed_at / 1e9 >= since
        return kept.changed_at if kept and is_of_then else changed_at(claims.root, path, since)

    # Read only now: a task that changed something while the files were read has recorded it before.
    held = claims.since(since - NEAR)
    looks = claims.looks_of_others(since - NEAR)
    return attribute_changes(changed, claims.root, claims.task, held, find_time, between, looks)


def may_have_removed(claims: Claims, path: Path, since: float) -> bool:
    """True if a command of the task since then may have removed a file that is gone; nothing tells when it went."""
    place = os.path.join(claims.root, path)
    return any(claim.ran and claim.task == claims.task and may_name(place, claim) for claim in claims.since(since))


def changed_at(root: bytes, path: Path, since: float) -> int:
    """Time in nanoseconds at which a file changed, was deleted, or moved with its folder; always after `since`."""
    place, after = os.path.join(root, path), (since - TICK) * 1e9
    while True:
        try:
            info = os.lstat(place)
        except OSError:
            info = None
        if info and (info.st_ctime_ns >= after or place == root):
            return info.st_ctime_ns
        place = os.path.dirname(place)
