"""What becomes of one file in a restore. Pure.

Only what the task did is taken out again, the newest change first; what somebody else did before, between or after it
stays, and is merged where both changed the file. A file that the task did not make is never deleted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from halocline.checkpoints.changes.attribution import TASKS_OWN, Attribution, Who, is_disturbed_by_others
from halocline.checkpoints.store.index import Path
from halocline.checkpoints.store.repository import BEFORE, FIRST
from halocline.checkpoints.store.trees import Entry
from halocline.protocol.values import Value

FILES = (b"100644", b"100755")
"""The modes of regular files."""

Sides = tuple[Entry | None, Entry | None]
Merge = Callable[[Entry, Entry, Entry], Entry | None]
"""Brings base, now and target of a file together; None where that cannot be done."""


class Fate(StrEnum):
    """`GO`: it becomes what it was without the task. `YOURS`, `OTHER`, `DOUBT`, `CONFLICT`: it stays, as somebody else

    changed it, another task did, one or the other may have, or both the task and somebody else. `UNKNOWN` files are
    none of the task's, and not spoken of.
    """

    GO = "go"
    MERGE = "merge"
    YOURS = "yours"
    OTHER = "other"
    DOUBT = "doubt"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


class Step(Value, frozen=True):
    """A checkpoint after the target: what it is called, what it changed, and whose that is where it says so."""

    label: str
    sides: Mapping[Path, Sides] = {}
    by: Attribution | None = None


class Deed(Value, frozen=True):
    """One change of a file. `is_assumed`: it is the task's only because a command of the task ran at that time."""

    who: Who
    before: Entry | None
    after: Entry | None
    is_assumed: bool = False


def deeds_by_file(steps: Iterable[Step], earlier: Iterable[float] = ()) -> dict[Path, list[Deed]]:
    """Each file's changes since the target, the oldest first, with who made them as far as that is sure.

    At `earlier` times, in Unix seconds, somebody else changed files before the target was saved.
    """
    told = [(step, step.by or _of_old(step.label)) for step in steps]
    times = [*earlier, *(at for _, by in told for at in by.times)]
    found: dict[Path, list[Deed]] = {}
    for step, by in told:
        listed, is_sure = by.by_path(), not is_disturbed_by_others(by, times)
        for path, (before, after) in step.sides.items():
            who = listed.get(path, by.rest)
            is_assumed = is_sure and who is Who.COMMAND
            if who in (Who.COMMAND, Who.NAMED):
                who = Who.TASK if is_sure else Who.DOUBT
            found.setdefault(path, []).append(Deed(who, before, after, is_assumed))
    return found


def _of_old(label: str) -> Attribution:
    """Return whose the changes of a checkpoint are that does not say so: it is of an older version."""
    return Attribution() if label == FIRST or label.startswith(BEFORE) else TASKS_OWN


def decide_fate(sides: Sides, done: Sequence[Deed], merge: Merge, *, overwrite: bool) -> tuple[Fate, Entry | None]:
    """Return what becomes of a file that is one thing now and another in the target, and what it will be."""
    now, target = sides
    if target is None and not _may_delete(done, overwrite=overwrite):
        return (
            Fate.OTHER
            if _last_changer(done) is Who.OTHER
            else Fate.DOUBT
            if _last_changer(done) is Who.DOUBT
            else Fate.UNKNOWN
        ), now
    if overwrite:
        return Fate.GO, target
    wanted, is_merged = now, False
    for deed in _join_deeds(done):
        if wanted == deed.after:
            wanted = deed.before
        elif wanted != deed.before:
            texts = [side for side in (deed.after, wanted, deed.before) if side and side.mode in FILES]
            merged = merge(texts[0], texts[1], texts[2]) if len(texts) == 3 else None
            if merged is None:
                return Fate.CONFLICT, now
            wanted, is_merged = merged, True
    if wanted == now:
        return {Who.OTHER: Fate.OTHER, Who.DOUBT: Fate.DOUBT}.get(_last_changer(done), Fate.YOURS), now
    return Fate.MERGE if is_merged else Fate.GO, wanted


def _last_changer(done: Sequence[Deed]) -> Who:
    """Return who changed it last, beside the task."""
    return next((deed.who for deed in reversed(done) if deed.who is not Who.TASK), Who.PERSON)


def _may_delete(done: Sequence[Deed], *, overwrite: bool) -> bool:
    """Tell whether the task made the file, or may have made it and a person wants it gone nevertheless."""
    maker = next((deed.who for deed in done if deed.before is None), Who.PERSON)
    return maker is Who.TASK or (overwrite and maker is Who.DOUBT)


def _join_deeds(done: Iterable[Deed]) -> list[Deed]:
    """The task's changes, the newest first; those that follow each other without anybody between are one."""
    found: list[Deed] = []
    is_next = False
    for deed in done:
        if deed.who is Who.TASK and is_next and found[-1].after == deed.before:
            found[-1] = Deed(Who.TASK, found[-1].before, deed.after, deed.is_assumed or found[-1].is_assumed)
        elif deed.who is Who.TASK:
            found.append(deed)
        is_next = deed.who is Who.TASK
    return found[::-1]


def is_within(path: Path, places: Collection[Path]) -> bool:
    """Whether the path or a folder above it is one of the places."""
    while path:
        if path in places:
            return True
        path = path.rpartition(b"/")[0]
    return False
