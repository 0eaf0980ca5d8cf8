"""Decides what a restore does to one file. Pure.

Only the task's changes are undone, newest first; changes by somebody else before, between or after them stay, and are
merged where both changed the file. A file that the task did not create is never deleted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from halocline.checkpoints.changes.attribution import TASKS_OWN, Attribution, Who, is_disturbed_by_others
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.saved import BEFORE, FIRST
from halocline.checkpoints.store.entries import Entry
from halocline.protocol.values import Value

FILES = (b"100644", b"100755")
"""The modes of regular files."""

Sides = tuple[Entry | None, Entry | None]
Merge = Callable[[Entry, Entry, Entry], Entry | None]
"""Merges base, now and target of a file; None if that is impossible."""


class Fate(StrEnum):
    """The outcome for a file. `GO`: the task's changes are undone; `MERGE`: the same, by merging.

    It stays in these cases: `YOURS`, you changed it; `OTHER`, another task did; `DOUBT`, it is unclear who did;
    `CONFLICT`, both the task and somebody else did; `UNKNOWN`, it is new, and nothing says that the task made it.
    """

    GO = "go"
    MERGE = "merge"
    YOURS = "yours"
    OTHER = "other"
    DOUBT = "doubt"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


class Step(Value, frozen=True):
    """A checkpoint after the target: its label, its changes, and who made them if it records that."""

    label: str
    sides: Mapping[Path, Sides] = {}
    by: Attribution | None = None


class Deed(Value, frozen=True):
    """One change of a file. `is_assumed`: it counts as the task's only because its command ran at that time."""

    who: Who
    before: Entry | None
    after: Entry | None
    is_assumed: bool = False


def group_by_file(steps: Iterable[Step], earlier: Iterable[float] = ()) -> dict[Path, list[Deed]]:
    """Each file's changes since the target, oldest first, with who made them as far as that is certain.

    `earlier` are Unix times at which somebody else changed files before the target was saved.
    """
    attributed = [(step, step.by or _attribute_old_label(step.label)) for step in steps]
    times = [*earlier, *(at for _, by in attributed for at in by.times)]
    found: dict[Path, list[Deed]] = {}
    for step, by in attributed:
        listed, is_sure = by.by_path(), not is_disturbed_by_others(by, times)
        for path, (before, after) in step.sides.items():
            who = listed.get(path, by.rest)
            is_assumed = is_sure and who in (Who.COMMAND, Who.NAMED)
            if who in (Who.COMMAND, Who.NAMED):
                who = Who.TASK if is_sure else Who.DOUBT
            found.setdefault(path, []).append(Deed(who, before, after, is_assumed))
    return found


def _attribute_old_label(label: str) -> Attribution:
    """Attribute the changes of a checkpoint of an older version, which does not record it."""
    return Attribution() if label == FIRST or label.startswith(BEFORE) else TASKS_OWN


def decide_fate(sides: Sides, done: Sequence[Deed], merge: Merge, *, overwrite: bool) -> tuple[Fate, Entry | None]:
    """Return the fate of a file that differs between now and the target, and its new entry."""
    now, target = sides
    may_set = target is not None or _may_delete(done, overwrite=overwrite)
    if overwrite and may_set:
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
    if wanted == now or (wanted is None and not may_set):
        stays = Fate.UNKNOWN if target is None else Fate.YOURS
        return {Who.OTHER: Fate.OTHER, Who.DOUBT: Fate.DOUBT}.get(_last_changer(done), stays), now
    return Fate.MERGE if is_merged else Fate.GO, wanted


def _last_changer(done: Sequence[Deed]) -> Who:
    """Return who else changed it last, apart from the task."""
    return next((deed.who for deed in reversed(done) if deed.who is not Who.TASK), Who.PERSON)


def _may_delete(done: Sequence[Deed], *, overwrite: bool) -> bool:
    """True if the task created the file, or may have and the person chose to overwrite."""
    maker = next((deed.who for deed in done if deed.before is None), Who.PERSON)
    return maker is Who.TASK or (overwrite and maker is Who.DOUBT)


def _join_deeds(done: Iterable[Deed]) -> list[Deed]:
    """The task's changes, newest first; consecutive ones are joined."""
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
    """True if the path or a folder above it is one of the places."""
    while path:
        if path in places:
            return True
        path = path.rpartition(b"/")[0]
    return False
