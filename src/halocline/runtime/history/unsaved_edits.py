"""Reverts edits of files that no checkpoint holds, such as ignored ones: the log refers to their earlier contents.

What must stay true: only what the task's edits left is replaced. A file that anything else wrote since stays as it is.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.restore.restore import Restored, RestorePlan
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.unkept import is_kept
from halocline.files.regular import read_regular
from halocline.policy.paths import is_within
from halocline.ports.blobs import blob_reference
from halocline.ports.host import FileChangedOutside
from halocline.protocol import events as ev
from halocline.protocol.left_out import LeftOut
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value
from halocline.runtime.history.revert import REVERTING, describe_cause
from halocline.runtime.history.snapshots import shown_by
from halocline.runtime.history.undoing import FileUndo, planned_writes, undo_plan
from halocline.runtime.parts.files import files_within
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home

MIXED = "something else changed what the task had edited, and no checkpoint holds it"


class UnsavedEdits(Value, frozen=True):
    """Edits after event `to` that no checkpoint holds: those to revert, and those left as they are."""

    to: int
    workspace: Path
    roots: tuple[str, ...] = ()
    reverts: tuple[FileUndo, ...] = ()
    left: tuple[LeftOut, ...] = ()

    def add_to(self, plan: RestorePlan) -> RestorePlan:
        """Return a plan with these edits."""
        plan = replace(plan, left_out=self.of_both(plan.left_out))
        found: dict[str, list[str]] = {"creates": [], "overwrites": [], "deletes": []}
        for one in self.reverts:
            kind = "creates" if one.found is None else "deletes" if one.wanted is None else "overwrites"
            found[kind].append(one.path)
        return plan.adding(**found)

    def of_both(self, found: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
        """Return what a checkpoint left out without what is reverted here, and what is left here."""
        mine = {*(one.path for one in self.reverts), *(one.path for one in self.left)}
        return (*self.left, *(one for one in found if one.path not in mine))


def find_unsaved_edits(events: Sequence[ev.DurableEvent], to: int | None) -> UnsavedEdits:
    """Find the edits after event `to` that no checkpoint holds, as the files are now. Blocks."""
    state = fold_events(events)
    workspace = Path(state.workspace)
    if to is None:
        return UnsavedEdits(0, workspace)
    folders = (os.path.realpath(workspace), *state.roots)
    reverts, left = [], []
    for one in undo_plan(events, to):
        place = os.path.realpath(workspace / one.path)
        now = _read_reference(place)
        if now == one.wanted or not any(is_within(place, folder) for folder in folders):
            continue
        if is_kept(place, folders, Limits().largest):
            continue
        if now != one.found or one.is_mixed:
            left.append(LeftOut(one.path, MIXED))
        else:
            reverts.append(one)
    return UnsavedEdits(to, workspace, state.roots, tuple(reverts), tuple(left))


async def revert_unsaved(found: UnsavedEdits, restored: Restored, home: Home) -> tuple[Restored, list[ev.FileChanged]]:
    """Revert the edits. Returns the restore with them, and the events to log before that of the restore.

    A file that cannot be written is one that the restore left.
    """
    events: list[ev.FileChanged] = []
    files = files_within(found.workspace, *map(Path, found.roots), journals=home.edits)
    kept: list[str] = []
    for one in found.reverts:
        try:
            await files.write_all(planned_writes([one], found.workspace, DiskBlobs(home.blobs)))
        except (KeyError, OSError, FileChangedOutside):
            kept.append(one.path)
        else:
            cause = describe_cause(one, found.to)
            events.append(ev.FileChanged(path=one.path, before=one.found, after=one.wanted, cause=cause))
    restored = replace(restored, left_out=found.of_both(restored.left_out))
    return restored.adding(changed=[event.path for event in events], kept=kept), events


def find_point(events: Sequence[ev.DurableEvent], checkpoint: str) -> int | None:
    """Return the event after which the files were as in a checkpoint; None if the log does not say."""
    restored = None
    for place, event in reversed(list(enumerate(events))):
        match event:
            case ev.CheckpointTaken(checkpoint=found, root="") if found == checkpoint:
                return shown_by(events, event)
            case ev.CheckpointRestored(undo=undo) if undo == checkpoint and restored is None:
                restored = _count_before(events[:place])
    return restored


def _count_before(events: Sequence[ev.DurableEvent]) -> int | None:
    """Return the last event before the edits that a restore reverted."""
    before: Iterable[ev.DurableEvent] = reversed(events)
    return next((one.seq for one in before if not _is_revert(one)), None)


def _is_revert(event: ev.DurableEvent) -> bool:
    return isinstance(event, ev.FileChanged) and event.cause.startswith(REVERTING)


def _read_reference(place: str) -> str | None:
    """Return the name that the content of a file has as a blob; None if there is no regular file."""
    try:
        return blob_reference(read_regular(place))
    except OSError:
        return None
