"""Undoes edits exactly, from what the log says of them: each has what the file held before and after, and its cause.

It needs no checkpoints. A file that somebody else wrote meanwhile is known by its content and
never overwritten unasked.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from halocline.ports.blobs import Blobs
from halocline.ports.host import FileWrite
from halocline.protocol.events import DurableEvent, FileChanged, ToolCallStarted
from halocline.protocol.values import Value


class Cause(Value, frozen=True):
    """The call that wrote a file, its tool, and where in the log that stands."""

    call: str
    tool: str
    seq: int


class FileUndo(Value, frozen=True):
    """One file on its way back: `found` is what it must hold now, `wanted` what it shall hold; blobs, None for no file.

    `causes` are undone, the oldest first. `is_mixed`: between them, or after them, something else wrote the file, and
    that would be lost.
    """

    path: str
    found: str | None
    wanted: str | None
    causes: tuple[Cause, ...]
    is_mixed: bool = False


def undo_plan(
    events: Iterable[DurableEvent], after: int = 0, calls: Collection[str] | None = None
) -> tuple[FileUndo, ...]:
    """How to undo the edits that came after this seq, or those of them that these calls made.

    What an edit and its undoing leave as it was is not in it.
    """
    tools: dict[str, str] = {}
    changes: dict[str, list[FileChanged]] = {}
    for event in events:
        match event:
            case ToolCallStarted(call=call, name=name):
                tools[call] = name
            case FileChanged(path=path) if event.seq > after:
                changes.setdefault(path, []).append(event)
    plans = (_plan_file(path, made, tools, calls) for path, made in changes.items())
    return tuple(plan for plan in plans if plan is not None and plan.found != plan.wanted)


def _plan_file(
    path: str, changes: Sequence[FileChanged], tools: dict[str, str], calls: Collection[str] | None
) -> FileUndo | None:
    chosen = [n for n, change in enumerate(changes) if calls is None or change.cause in calls]
    if not chosen:
        return None
    # All that follows the first one that is undone is undone with it; `is_mixed` says so when it was not asked for.
    undone = changes[chosen[0] :]
    is_broken = any(one.after != other.before for one, other in pairwise(undone))
    causes = tuple(Cause(change.cause, tools.get(change.cause, ""), change.seq) for change in undone)
    is_mixed = is_broken or len(undone) != len(chosen)
    return FileUndo(path, undone[-1].after, undone[0].before, causes, is_mixed)


def planned_writes(plan: Iterable[FileUndo], workspace: Path, blobs: Blobs) -> tuple[FileWrite, ...]:
    """The plan as one change of files, which fails as a whole when a file is not what the plan says.

    Raises:
        KeyError: what a file held is not kept any more.
    """

    def content(blob: str | None) -> bytes | None:
        return None if blob is None else blobs.get(blob)

    return tuple(FileWrite(workspace / one.path, content(one.wanted), content(one.found)) for one in plan)
