"""Attributes the changes that a checkpoint finds to the task, to another task or to the person. Pure.

What must stay true: a change is the task's only if the task announced it and the file changed during that time. Unclear
changes are in doubt, and a restore leaves them alone.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from halocline.checkpoints.changes.claims import FOR_EVER, Claim
from halocline.checkpoints.index.index import Path
from halocline.protocol import json_input
from halocline.protocol.values import Value

MARK = "changes: "
"""Prefix of the line in a checkpoint's message that attributes its changes."""
LONG = 5.0
"""Seconds after which a person may well have changed something while a command ran."""
NEAR = 60.0
"""Seconds around a command in which a change by somebody else means that they were working."""
TICK, _COARSE_TICK = 0.011, 2.0
"""Seconds by which a file system's times may lag behind the clock."""
_MOST_TIMES = 64


class Who(StrEnum):
    """The author of a change. `COMMAND`: a command of the task, unless somebody else was working meanwhile.

    Only the time is evidence for it. `NAMED` is the same in checkpoints of older versions: the command named the file.
    """

    TASK = "task"
    COMMAND = "command"
    NAMED = "named"
    DOUBT = "doubt"
    OTHER = "other"
    PERSON = "person"


class Attribution(Value, frozen=True):
    """The authors of one checkpoint's changes. `rest` is the author of every path that is not listed.

    `other` has the paths of other tasks, by task. A command of the task ran from `began` to `ended`; at `times`
    somebody else changed files. All are in Unix seconds.
    """

    rest: Who = Who.PERSON
    listed: Mapping[Who, tuple[str, ...]] = {}
    other: Mapping[str, tuple[str, ...]] = {}
    began: float = 0.0
    ended: float = 0.0
    times: tuple[float, ...] = ()

    def by_path(self) -> dict[Path, Who]:
        """Return the author of each listed path."""
        found = {path.encode("latin-1"): Who(who) for who, paths in self.listed.items() for path in paths}
        return found | {path.encode("latin-1"): Who.OTHER for paths in self.other.values() for path in paths}

    def tasks(self) -> dict[Path, str]:
        """Return the task that changed each path, for paths that other tasks changed."""
        return {path.encode("latin-1"): task for task, paths in self.other.items() for path in paths}


TASKS_OWN = Attribution(rest=Who.TASK)
"""The attribution of restores, and of checkpoints that older versions took after a change."""
UNKNOWN = Attribution(rest=Who.DOUBT)
"""The attribution of changes whose checkpoint is missing from the store."""


def attribute_changes(
    changed: Mapping[Path, tuple[str, str]],
    root: bytes,
    task: str,
    claims: Sequence[Claim],
    changed_at: Callable[[Path], int],
    between: tuple[float, float],
    looks: Sequence[float] = (),
) -> Attribution:
    """Attribute each change made `between` two scans by the task, in Unix seconds.

    `changed` has git's hashes of each file's old and new content, empty for no file. `claims` are those since shortly
    before the first scan; `changed_at` returns nanoseconds. `looks` are the times at which other open tasks scanned the
    folder: where several tasks work, a person may work as well.
    """
    own, others = _split_claims(claims, task, root, between)
    later = [claim for claim in claims if claim.task == task and claim.at > between[1]]
    found: dict[Who, list[str]] = {}
    other: dict[str, list[str]] = {}
    times: list[float] = []
    for path, sides in changed.items():
        at, place = changed_at(path), os.path.join(root, path)
        is_overtaken = not sides[1] and any(_changes_folder_of(place, at, claim) for claim in (*own, *later))
        change = _who_changed(place, at, own, others, is_overtaken=is_overtaken)
        who, whose = (Who.TASK, "") if _is_written(place, sides, own) else change
        together = other.setdefault(whose, []) if who is Who.OTHER else found.setdefault(who, [])
        together.append(path.decode("latin-1"))
        if who in (Who.PERSON, Who.OTHER):
            times.append(at / 1e9)
    rest = max(found, key=lambda who: len(found[who]), default=Who.PERSON)
    ran = [claim for claim in own if claim.ran and claim.at]
    near = [run.at for run in ran if _has_company(run, others, looks) or is_disturbed(run.at, run.until, times)]
    return Attribution(
        rest=rest,
        listed={who: tuple(paths) for who, paths in found.items() if who is not rest},
        other={task: tuple(paths) for task, paths in other.items()},
        began=min((claim.at for claim in ran), default=0.0),
        ended=max((min(claim.until, between[1]) for claim in ran), default=0.0),
        times=tuple(sorted([*near, *_outermost_times(times)])),
    )


def _split_claims(
    claims: Sequence[Claim], task: str, root: bytes, between: tuple[float, float]
) -> tuple[Sequence[Claim], Sequence[Claim]]:
    """The task's own claims between the two scans, and those of other tasks that may be about this folder."""
    since, now = between
    # A claim that begins after the scan was requested has no part in it, however late the scan itself was.
    own = [claim for claim in claims if claim.task == task and claim.until >= since and claim.at <= now]
    return own, [claim for claim in claims if claim.task != task and claim.concerns(root)]


def _outermost_times(times: Sequence[float]) -> Sequence[float]:
    """Return the first and last times if there are many: commands before and after the two scans are near those."""
    found = sorted(times)
    return found if len(found) <= _MOST_TIMES else [*found[: _MOST_TIMES // 2], *found[-_MOST_TIMES // 2 :]]


def _is_written(place: bytes, sides: tuple[str, str], own: Sequence[Claim]) -> bool:
    """True if the task's own edits explain the whole change of a file."""
    facts = [sides_of for claim in own for path, *sides_of in claim.wrote if path == place]
    chain = [sides[0]]
    for before, after in facts:
        if before == chain[-1]:
            chain.append(after)
    return len(chain) > 1 and chain[-1] == sides[1]


def _who_changed(
    place: bytes, at: int, own: Sequence[Claim], others: Sequence[Claim], *, is_overtaken: bool
) -> tuple[Who, str]:
    mine = [claim for claim in own if _may_be_of(place, at, claim)]
    if is_overtaken and not mine:
        # The time is that of the folder, which the task itself changed since: a command may have removed the file.
        mine = [claim for claim in own if claim.ran and claim.at - TICK <= at / 1e9 and may_name(place, claim)]
    theirs = [claim for claim in others if _may_be_of(place, at, claim)]
    named = [claim for claim in theirs if claim.paths is not None]
    wrote = any(place == path for claim in own for path, *_ in claim.wrote)
    if wrote or (mine and theirs):
        return (Who.DOUBT, "") if wrote or not named else (Who.OTHER, named[-1].task)
    if theirs:
        return Who.OTHER, theirs[-1].task
    if not mine:
        return Who.PERSON, ""
    if any(claim.ran and claim.until == FOR_EVER for claim in mine):
        return Who.DOUBT, ""  # a job still runs, and it is unknown when it writes
    if not all(claim.ran for claim in mine):
        return Who.TASK, ""
    return Who.COMMAND, ""


def _may_be_of(place: bytes, at: int, claim: Claim) -> bool:
    """True if a file changed while this claim held. A finished edit names the files that it wrote."""
    is_open = claim.paths is None or claim.ran or claim.is_cut or not claim.at or claim.until == FOR_EVER
    return (
        (is_open or any(place == path for path, *_ in claim.wrote)) and may_name(place, claim) and _is_within(at, claim)
    )


def may_name(place: bytes, claim: Claim) -> bool:
    """True if a claim is about a file: it names that, a folder above it, or any file."""
    return place.startswith(claim.root + b"/") if claim.paths is None else claim.names(place)


def _changes_folder_of(place: bytes, at: int, claim: Claim) -> bool:
    """True if a claim that held then is about an entry beside a file, or beside a folder above it."""
    folders = (claim.root,) if claim.paths is None else map(os.path.dirname, claim.paths)
    return any(place.startswith(folder + b"/") for folder in folders) and _is_within(at, claim)


def _is_within(at: int, claim: Claim) -> bool:
    tick = _COARSE_TICK if at % 1_000_000 == 0 else TICK
    return claim.at - tick <= at / 1e9 <= claim.until


def _has_company(run: Claim, others: Sequence[Claim], looks: Sequence[float]) -> bool:
    """True if another task changed files near a command, or was already working in the folder when it ended."""
    if any(claim.at <= run.until + NEAR and run.at <= claim.until + NEAR for claim in others):
        return True
    return any(run.at - NEAR <= at <= run.until for at in looks)


def is_disturbed_by_others(one: Attribution, times: Iterable[float]) -> bool:
    """True if somebody else may have changed files while the command ran.

    That is so if it took long, or if one of `times`, at which others changed files, is near it.
    """
    if one.ended - one.began > LONG:
        return True
    return is_disturbed(one.began, one.ended, times)


def is_disturbed(began: float, ended: float, times: Iterable[float]) -> bool:
    """True if one of the times is near a command."""
    return any(began - NEAR <= at <= ended + NEAR for at in times)


def format_message(label: str, attribution: Attribution, more: str = "") -> str:
    """The message of a checkpoint; `more` are further lines."""
    return f"{label}\n\n{more}{MARK}{msgspec.json.encode(attribution).decode()}"


def read_message(message: str) -> Attribution | None:
    """Read a checkpoint's message; None if an older version wrote it. Damage attributes everything to the person."""
    _, found, text = message.rpartition(f"\n{MARK}")
    if not found:
        return None
    try:
        return json_input.decode(text.strip(), type=Attribution)
    except msgspec.DecodeError:
        return Attribution()
