"""Undo edits exactly, from the log: each entry has the file's content before and after, and its cause.

It needs no checkpoints. A file that something else changed since is recognized by its content and never overwritten
without asking.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from halocline.ports.blobs import Blobs
from halocline.ports.host import FileWrite
from halocline.protocol.events import DurableEvent, FileChanged, ToolCallStarted
from halocline.protocol.values import Value


class Cause(Value, frozen=True):
    """The call that wrote a file, its tool, and its position in the log."""

    call: str
    tool: str
    seq: int


class FileUndo(Value, frozen=True):
    """The undo of one file: `found` is its required content now, `wanted` its new content; blobs, None for no file.

    `causes` are the undone calls, oldest first. `is_mixed`: between or after them something else wrote the file, and
    that change would be lost.
    """

    path: str
    found: str | None
    wanted: str | None
    causes: tuple[Cause, ...]
    is_mixed: bool = False


def undo_plan(
    events: Iterable[DurableEvent], after: int = 0, calls: Collection[str] | None = None
) -> tuple[FileUndo, ...]:
    """Plan the undo of the edits after this seq, or only of those by these calls.

    Files whose content would not change are not in it.
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
    # Everything after the first undone change is undone too; `is_mixed` says so if it was not asked for.
    undone = changes[chosen[0] :]
    is_broken = any(one.after != other.before for one, other in pairwise(undone))
    causes = tuple(Cause(change.cause, tools.get(change.cause, ""), change.seq) for change in undone)
    is_mixed = is_broken or len(undone) != len(chosen)
    return FileUndo(path, undone[-1].after, undone[0].before, causes, is_mixed)


def planned_writes(plan: Iterable[FileUndo], workspace: Path, blobs: Blobs) -> tuple[FileWrite, ...]:
    """Return the plan as one set of writes, which fails as a whole if a file is not as the plan expects.

    Raises:
        KeyError: a file's old content is no longer stored.
    """

    def content(blob: str | None) -> bytes | None:
        return None if blob is None else blobs.get(blob)

    return tuple(FileWrite(workspace / one.path, content(one.wanted), content(one.found)) for one in plan)
