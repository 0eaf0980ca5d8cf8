"""A task's history: points to rewind to, comparisons, restore previews, and restores."""

import asyncio
from typing import Any

from msgspec.structs import asdict

from halocline.client.edits import ConflictingEdits, find_conflicting_edits
from halocline.client.history import FileDifference, Restored, RestorePlan, SnapshotPoint, preview_restore
from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.surfaces.rows.fold import transcript_of
from halocline.surfaces.rows.kinds import Row
from halocline.surfaces.web.handlers.handler import OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks

Point = int | str
"""An event number or a checkpoint name."""


class PointPair(OfTask, frozen=True):
    """From `old` to `new`; without `new`: to the current files."""

    old: Point
    new: Point | None = None


class RewindPreview(OfTask, frozen=True):
    to: int
    overwrite: bool = False


class OfCall(OfTask, frozen=True):
    call: str


class OfRow(OfTask, frozen=True):
    """The row of a call, or the `nth` row of event `seq`."""

    call: str = ""
    seq: int = 0
    nth: int = 0


class OfCheckpoint(OfTask, frozen=True):
    checkpoint: str
    overwrite: bool = False


@query("points")
async def list_points(tasks: OpenTasks, which: OfTask) -> tuple[SnapshotPoint, ...]:
    """List points to rewind to."""
    return await asyncio.to_thread(tasks.client.time.points, tasks.known(which.task))


@query("compare")
async def compare_points(tasks: OpenTasks, which: PointPair) -> dict[str, Any]:
    """List the files that differ between two points, with diffs."""
    task = tasks.known(which.task)
    old, new = _name_point(task, which.old), "" if which.new is None else _name_point(task, which.new)
    found = await tasks.client.time.compare(tasks.workspace(task), old, new)
    return {"files": [_show_file(file) for file in found.files], "added": found.added, "removed": found.removed}


@query("changed_by")
async def find_authors(tasks: OpenTasks, which: PointPair) -> dict[str, str]:
    """Return who changed files since a point, by path, where it was not the task alone: `person` or `both`."""
    task = tasks.known(which.task)
    plan = await tasks.client.time.plan(tasks.workspace(task), _name_point(task, which.old))
    return dict.fromkeys(plan.yours, "person") | dict.fromkeys((*plan.merges, *plan.conflicts), "both")


@query("restore_plan")
async def preview_rewind(tasks: OpenTasks, which: RewindPreview) -> dict[str, Any]:
    """Preview a rewind of files and conversation, and list the commands run since."""
    task = tasks.known(which.task)
    seen = await preview_restore(tasks.client.time, tasks.client.past(task), task, which.to, overwrite=which.overwrite)
    rest = {"unsaved": seen.unsaved, "messages": seen.messages, "commands": seen.commands}
    return asdict(seen.plan or RestorePlan()) | rest


@query("row")
async def read_row(tasks: OpenTasks, which: OfRow) -> Row:
    """Return a whole row; those sent to a page are cut."""
    row = await asyncio.to_thread(_find_row, tasks.client, tasks.known(which.task), which)
    if row is None:
        raise UsageError("This row does not exist.", "Reload the page.")
    return row


def _find_row(client: Client, task: str, which: OfRow) -> Row | None:
    past = client.past(task)
    if which.call:
        return transcript_of(past).call(which.call)
    before = transcript_of(event for event in past if event.seq < which.seq)
    after = transcript_of(event for event in past if event.seq <= which.seq)
    return next(iter(after.rows[len(before.rows) + max(0, which.nth) :]), None)


@action("restore")
async def restore_files(tasks: OpenTasks, which: OfCheckpoint) -> Restored:
    """Restore a task's files to a checkpoint, also to undo a restore."""
    workspace = tasks.workspace(tasks.known(which.task))
    return await tasks.client.time.restore(workspace, which.checkpoint, overwrite=which.overwrite)


def _name_point(task: str, moment: Point) -> str:
    return f"{task}@{moment}" if isinstance(moment, int) else moment


def _show_file(file: FileDifference) -> dict[str, Any]:
    shown = asdict(file)
    return shown | {"status": shown.pop("kind")}


@query("conflict")
async def read_conflict(tasks: OpenTasks, which: OfCall) -> ConflictingEdits:
    """Compare a failed edit with its files: search text, closest text, replacement."""
    past = await asyncio.to_thread(tasks.client.past, tasks.known(which.task))
    return await find_conflicting_edits(past, which.call, tasks.client.home)
