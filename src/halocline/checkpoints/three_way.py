"""What becomes of one file in a restore. Pure.

Three states decide: `base`, which the task's newest checkpoint has; `now`; and `target`. What somebody else changed is
kept, and merged where the task changed the file as well. A file that the task did not make is never deleted.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum

from halocline.checkpoints.index import Path
from halocline.checkpoints.repository import BEFORE
from halocline.checkpoints.trees import Entry
from halocline.protocol.values import Value

FILES = (b"100644", b"100755")
"""The modes of regular files."""
FIRST = "Start"
"""What a checkpoint is called that is taken before a task changes anything."""


class Fate(StrEnum):
    """`GO`: it becomes what the target has. `YOURS`, `CONFLICT`: it stays, the second as both sides changed it."""

    GO = "go"
    MERGE = "merge"
    YOURS = "yours"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


class Step(Value, frozen=True):
    """A checkpoint after the target: what it is called, and which files it has changed and which it has new."""

    label: str
    changed: tuple[Path, ...] = ()
    new: tuple[Path, ...] = ()


class Deeds(Value, frozen=True):
    """Who did what since the target: the files the task changed, and those that somebody else made."""

    changed: frozenset[Path] = frozenset()
    made_by_others: frozenset[Path] = frozenset()


def deeds(steps: Iterable[Step]) -> Deeds:
    """Sort the changes since the target. What a first checkpoint finds, the task did not do."""
    changed: set[Path] = set()
    others: set[Path] = set()
    for step in steps:
        if step.label == FIRST or step.label.startswith(BEFORE):
            others.update(step.new)
        else:
            changed.update(step.changed)
    return Deeds(frozenset(changed), frozenset(others))


def fate(path: Path, sides: tuple[Entry | None, Entry | None, Entry | None], done: Deeds, *, overwrite: bool) -> Fate:
    """What becomes of a file, whose `base`, `now` and `target` are given; the last two differ."""
    base, now, target = sides
    if target is None and (base is None or path in done.made_by_others):
        return Fate.UNKNOWN
    if overwrite:
        return Fate.GO
    if path not in done.changed:
        return Fate.YOURS
    if now == base:
        return Fate.GO
    if base == target:
        return Fate.YOURS
    return Fate.MERGE if all(side and side.mode in FILES for side in sides) else Fate.CONFLICT


def is_within(path: Path, places: Collection[Path]) -> bool:
    """Whether the path or a folder above it is one of the places."""
    while path:
        if path in places:
            return True
        path = path.rpartition(b"/")[0]
    return False
