"""Revert a task's own edits without a checkpoint: its log has each file's content before and after each edit.

All files or none. Changes by anyone else since then are never lost, and a file that a command changed in between is
never guessed.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.checkpoints.restore.restore import Restored, RestorePlan
from halocline.edits.undoing import FileUndo, planned_writes, undo_plan
from halocline.ports.host import FileChangedOutside
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.state.reducer import fold_events
from halocline.runtime.assembly.files import files_within
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home

Emit = Callable[[ev.DurableEvent], object]
MOST_NAMED = 5


async def revert_edits(events: Sequence[ev.DurableEvent], to: int, home: Home, emit: Emit) -> Restored:
    """Restore the files that edit tools wrote after event `to`; report each change to `emit`.

    Raises:
        UsageError: no edit came after it, or others wrote these files as well.
        HaloclineError: a file cannot be written, or its old content is lost; nothing is changed then.
    """
    plan, state = _edits_to_revert(events, to), fold_events(events)
    workspace = Path(state.workspace)
    named = [one.path for one in plan if os.path.isabs(one.path)]
    files = files_within(workspace, *map(Path, state.roots), places=named, journals=home.edits)
    try:
        await files.write_all(planned_writes(plan, workspace, DiskBlobs(home.blobs)))
    except KeyError as error:
        raise HaloclineError(
            "The old content of a file is no longer stored. Nothing was reverted.", "Rewind the chat only."
        ) from error
    except FileChangedOutside as error:
        raise _not_alone([one.path for one in plan]) from error
    except OSError as error:
        raise HaloclineError(
            f"Nothing was reverted: {error.filename or 'a file'} cannot be written ({error.strerror}).",
            "Fix the cause, for example its permissions, then rewind again.",
        ) from error
    for one in plan:
        emit(ev.FileChanged(path=one.path, before=one.found, after=one.wanted, cause=_describe_cause(one, to)))
    changed = tuple(one.path for one in plan)
    return Restored(checkpoint=f"{state.task}@{to}", undo=f"{state.task}@{events[-1].seq}", changed=changed)


def plan_revert(events: Sequence[ev.DurableEvent], to: int) -> RestorePlan:
    """Return what `revert_edits` would do. Raises the same UsageError."""
    plan = _edits_to_revert(events, to)
    return RestorePlan(
        creates=tuple(one.path for one in plan if one.found is None),
        overwrites=tuple(one.path for one in plan if one.found and one.wanted),
        deletes=tuple(one.path for one in plan if one.wanted is None),
    )


def _edits_to_revert(events: Sequence[ev.DurableEvent], to: int) -> tuple[FileUndo, ...]:
    """Return the edits to revert. Raises UsageError if there are none, or other changes came in between."""
    plan = undo_plan(events, to)
    if not plan:
        raise UsageError(
            f"There is no checkpoint of the files at event {to}, and no edit after it to revert.",
            "Rewind the chat only.",
        )
    if mixed := [one.path for one in plan if one.is_mixed]:
        raise _not_alone(mixed)
    return plan


def _describe_cause(one: FileUndo, to: int) -> str:
    return f"rewind to event {to}, reverting {len(one.causes)} edit{'s' * (len(one.causes) != 1)}"


def _not_alone(paths: Sequence[str]) -> UsageError:
    names = ", ".join(paths[:MOST_NAMED]) or "a file"
    return UsageError(
        f"Nothing was reverted: {names} also changed outside this task's edits, and there is no checkpoint.",
        "Rewind the chat only, or restore these files by hand.",
    )
