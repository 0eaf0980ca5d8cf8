"""Revert edits without a checkpoint: all that a task made after a point, or one change of a file.

The log has each file's content before and after each edit. Changes by anyone else since then are never lost, and a
file that a command changed in between is never guessed.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.checkpoints.restore.restore import Restored, RestorePlan
from halocline.edits.swapping import DoesNotFit, swap_hunks
from halocline.edits.text import EditError, decode_text, encode_text
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value
from halocline.runtime.history.undoing import FileUndo, planned_writes, undo_plan
from halocline.runtime.parts.files import files_within
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home

Emit = Callable[[ev.DurableEvent], object]
MOST_NAMED = 5
REVERTING = "rewind to event "
"""The beginning of the cause of a change that reverts edits."""


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
        emit(ev.FileChanged(path=one.path, before=one.found, after=one.wanted, cause=describe_cause(one, to)))
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


def describe_cause(one: FileUndo, to: int) -> str:
    """Describe why a file changed whose edits are reverted."""
    return f"{REVERTING}{to}, reverting {len(one.causes)} edit{'s' * (len(one.causes) != 1)}"


def _not_alone(paths: Sequence[str]) -> UsageError:
    names = ", ".join(paths[:MOST_NAMED]) or "a file"
    return UsageError(
        f"Nothing was reverted: {names} also changed outside this task's edits, and there is no checkpoint.",
        "Rewind the chat only, or restore these files by hand.",
    )


LARGEST = 20_000_000


class HunkReversal(Value, frozen=True):
    """Hunks of the unified `diff` of a file. `kind` is what happened to the file: added, deleted, …

    `back` reverts them, otherwise they are applied again.
    """

    path: str
    diff: str
    kind: str = "changed"
    back: bool = True


async def revert_hunk(workspace: Path, swap: HunkReversal, roots: Sequence[str] = ()) -> None:
    """Revert or reapply hunks, in the workspace or in `roots`, the task's other folders.

    Raises:
        UsageError: they do not apply exactly; nothing was written.
    """
    files = files_within(workspace, *map(Path, roots))
    gone, made = ("added", "deleted") if swap.back else ("deleted", "added")
    try:
        path = _path_inside(workspace, swap.path, roots)
        info = await files.info(path)
        if info is not None and not info.is_file:
            raise UsageError(f"{swap.path} is not a regular file.", "Change it by hand.")
        data = await files.read(path, LARGEST) if info else None
        if (data is None) != (swap.kind == made):
            problem = "no longer exists" if data is None else "already exists"
            raise DoesNotFit(f"{swap.path} {problem}.", "Reload the changes, then decide again.")
        file = decode_text(data or b"", files.declared_encoding(path))
        now = swap_hunks(file.view, swap.diff, back=swap.back)
        if swap.kind == gone and now:
            raise DoesNotFit(
                f"{swap.path} contains more than what was shown.", "Reload the changes, then decide again."
            )
        wanted = None if swap.kind == gone else encode_text(file.with_view(now))
        await files.write_all((FileWrite(path, wanted, data),))
    except EditError as error:
        raise UsageError(error.text, error.hint) from None
    except FileChangedOutside:
        raise UsageError(f"{swap.path} just changed on disk.", "Reload the changes, then decide again.") from None
    except OSError as error:
        raise UsageError(f"Cannot write {swap.path}: {error.strerror}.", "Check its permissions.") from None


def _path_inside(workspace: Path, name: str, roots: Sequence[str]) -> Path:
    folders = [workspace.resolve(), *map(Path, roots)]
    path = folders[0] / name
    if not any(path.resolve().is_relative_to(folder) for folder in folders):
        raise UsageError(f"{name} is not in {' or '.join(map(str, folders))}.", "Change it by hand.")
    return path
