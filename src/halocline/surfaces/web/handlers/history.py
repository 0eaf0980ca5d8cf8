"""A task's past: where to go back to, what differs between two moments, what going back would do, and the way back."""

import asyncio
from typing import Any

from msgspec.structs import asdict

from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent, ToolCallEnded
from halocline.runtime.history.actions import FileDifference, Restored, RestorePlan
from halocline.runtime.history.edit_conflicts import Clashes, find_clashes
from halocline.runtime.history.restore_preview import preview_restore
from halocline.runtime.history.snapshots import Point
from halocline.surfaces.web.handlers.route import OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks

Moment = int | str
"""An event's number, or a checkpoint's name."""


class Between(OfTask, frozen=True):
    """From `old` to `new`; without `new`, to the files as they are."""

    old: Moment
    new: Moment | None = None


class Back(OfTask, frozen=True):
    to: int
    overwrite: bool = False


class OfCall(OfTask, frozen=True):
    call: str


class OfEvent(OfTask, frozen=True):
    seq: int


class OfCheckpoint(OfTask, frozen=True):
    checkpoint: str
    overwrite: bool = False


async def list_task_points(desk: OpenTasks, which: OfTask) -> tuple[Point, ...]:
    """Where one might want to go back to."""
    return await asyncio.to_thread(desk.client.time.points, desk.known(which.task))


async def compare_moments(desk: OpenTasks, which: Between) -> dict[str, Any]:
    """The files that differ between two moments, each with its diff."""
    task = desk.known(which.task)
    old, new = _name_moment(task, which.old), "" if which.new is None else _name_moment(task, which.new)
    found = await desk.client.time.compare(desk.workspace(task), old, new)
    return {"files": [_show_file(file) for file in found.files], "added": found.added, "removed": found.removed}


async def restore_plan(desk: OpenTasks, which: Back) -> dict[str, Any]:
    """What going back would do to files and conversation, and which commands ran since."""
    task = desk.known(which.task)
    seen = await preview_restore(desk.client.time, desk.client.past(task), task, which.to, overwrite=which.overwrite)
    rest = {"unsaved": seen.unsaved, "messages": seen.messages, "commands": seen.commands}
    return asdict(seen.plan or RestorePlan()) | rest


async def read_output(desk: OpenTasks, which: OfCall) -> str:
    """All that a call gave the model as words; events that are sent to a page are cut when they are long."""
    past = await asyncio.to_thread(desk.client.past, desk.known(which.task))
    for event in past:
        if isinstance(event, ToolCallEnded) and event.call == which.call:
            return event.result.text
    raise UsageError(f"No call {which.call} has ended in this task.", "Wait for its end.")


async def read_event(desk: OpenTasks, which: OfEvent) -> DurableEvent:
    """One event as it is in the log, whole."""
    past = await asyncio.to_thread(desk.client.past, desk.known(which.task))
    for one in past:
        if one.seq == which.seq:
            return one
    raise UsageError(f"There is no event {which.seq}.", "Reload the page.")


async def restore_files(desk: OpenTasks, which: OfCheckpoint) -> Restored:
    """Put a task's files back to a checkpoint; this is how a restore is undone."""
    workspace = desk.workspace(desk.known(which.task))
    return await desk.client.restore(workspace, which.checkpoint, overwrite=which.overwrite)


def _name_moment(task: str, moment: Moment) -> str:
    return f"{task}@{moment}" if isinstance(moment, int) else moment


def _show_file(file: FileDifference) -> dict[str, Any]:
    said = asdict(file)
    return said | {"status": said.pop("kind")}


async def read_conflict(desk: OpenTasks, which: OfCall) -> Clashes:
    """What of an edit does not fit its files as they are now: what it looked for, what is there, what it would put."""
    past = await asyncio.to_thread(desk.client.past, desk.known(which.task))
    return await find_clashes(past, which.call, desk.client.home)


QUERIES: Rows = {
    "conflict": Row(OfCall, read_conflict),
    "points": Row(OfTask, list_task_points),
    "compare": Row(Between, compare_moments),
    "restore_plan": Row(Back, restore_plan),
    "output": Row(OfCall, read_output),
    "event": Row(OfEvent, read_event),
}
ACTIONS: Rows = {"restore": Row(OfCheckpoint, restore_files)}
