"""Fork a task: the new one has the same events up to a point, then its own.

What must stay true: the log of a fork is one that an ordinary task could have written. What was open at that point is
closed as after a crash, so the log can be resumed and replayed like any other.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.files.durable import sync_below, sync_path, write_whole
from halocline.files.folder_mark import read_mark
from halocline.protocol import codec, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends
from halocline.protocol.values import Value
from halocline.store.paths import Home
from halocline.task.log import LogUnwritable

ELSEWHERE = "it stayed with the task this one was forked from"
"""Reason for the end of a job or sub-agent that was running at the fork."""
AGAIN = "The task is as it was. Free space or repair the disk, then fork it again."
THERE = "The fork is there, but a power cut may take it. Free space or repair the disk, then open it: halo -r {}"
MOVED = (
    "This conversation continues in a copy of the files, as they were at this point. The copy is in {new}. "
    "Use {new} in place of {old} in all paths mentioned so far."
)


class Fork(Value, frozen=True):
    """A requested fork: its id (empty: a new one), the source task, and the event to fork at (0: the last one).

    `model` and `workspace`, if set, replace those of the source.
    """

    name: str
    source: str
    at: int = 0
    model: str = ""
    workspace: str = ""


def fork_events(past: Sequence[ev.DurableEvent], fork: Fork, now: float) -> Iterator[ev.DurableEvent]:
    """Yield the log of the new task; `past` ends with the event to fork at, `now` is in Unix seconds."""
    begin = past[0] if past else None
    if not isinstance(begin, ev.TaskStarted):
        raise UsageError(
            f"Task {fork.source} cannot be forked: its log has no beginning.", "See the damage: halo doctor"
        )
    yield _start_event(begin, fork)
    yield from (_as_in_fork(event, fork) for event in past[1:])
    state = fold_events(past)
    for number, event in enumerate(_closing_events(state, fork), start=state.seq + 1):
        yield replace(event, seq=number, at=round(now, 3), task=fork.name)


def fork_of(past: Sequence[ev.DurableEvent], fork: Fork, home: Home) -> None:
    """Write the log of a fork, whole or not at all, once the disk has what it refers to. Blocks.

    Raises:
        UsageError: the task cannot be forked, or the name is taken.
        LogUnwritable: the disk is full, broken or read-only.
    """
    folder, is_made = home.task(fork.name), False
    lines = b"".join(codec.encode(event) + b"\n" for event in fork_events(past, fork, time.time()))
    try:
        if home.blobs.exists():  # the source may not have synced its newest contents yet
            sync_below(home.blobs)
        folder.mkdir(mode=0o700)
        is_made = True
        write_whole(folder / codec.LOG_NAME, lines)
        sync_path(folder.parent)
    except FileExistsError:
        raise UsageError(f"A task {folder.name} already exists.", "Choose another name.") from None
    except OSError as error:
        is_there = is_made and not _remove_fork(folder)
        raise LogUnwritable(
            f"Cannot write the task's log {folder / codec.LOG_NAME}: {error}.",
            THERE.format(folder.name) if is_there else AGAIN,
        ) from error


def _remove_fork(folder: Path) -> bool:
    """Remove a fork whose last sync failed, so that its name is free again; False if it is there, as in use by now."""
    log = folder / codec.LOG_NAME
    with suppress(OSError):
        if {*os.listdir(folder)} <= {log.name}:
            log.unlink(missing_ok=True)
            folder.rmdir()
    return not log.exists()


def _start_event(begin: ev.TaskStarted, fork: Fork) -> ev.TaskStarted:
    begun = replace(begin, task=fork.name, forked_from=fork.source, forked_at=fork.at)
    if begin.subtask:  # it stays read-only, but without a parent it appears in lists
        begun = replace(begun, subtask=replace(begin.subtask, parent=""))
    if begin.origin:  # another program's model cannot be used here
        begun = replace(begun, model="")
    if not fork.workspace:
        return begun
    prompt = begin.system_prompt.replace(begin.workspace, fork.workspace)
    mark = read_mark(fork.workspace)
    return replace(begun, workspace=fork.workspace, system_prompt=prompt, folder_mark=mark)


def _as_in_fork(event: ev.DurableEvent, fork: Fork) -> ev.DurableEvent:
    if fork.workspace and isinstance(event, ev.WorkspaceMoved):
        event = replace(event, workspace=fork.workspace)
    return replace(event, task=fork.name)


def _closing_events(state: State, fork: Fork) -> Iterator[ev.DurableEvent]:
    yield from (
        SubagentEnded(lane.call, lane.child, lane.name, LaneEnd.STOPPED, problem=ELSEWHERE)
        for lane in state.subagents.running
    )
    yield from (ev.RequestSettled(one.request) for one in state.budget.reserved)  # the source pays for them
    yield from loose_ends(state)
    yield from (ev.MessageWithdrawn(one.id) for one in state.queue.messages)  # they wait in the task of the person
    if state.turn is not None:
        yield ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED)
    yield from (ev.JobEnded(job=job.job, command=job.command, stopped=ELSEWHERE) for job in state.jobs.running)
    if fork.model and fork.model != state.model.name:
        yield ev.ModelChanged(model=fork.model)
    if fork.workspace and state.messages:
        note = Note(MOVED.format(new=fork.workspace, old=state.workspace), "environment")
        yield ev.CheckpointRestored(checkpoint="", undo="", content=(note,))
