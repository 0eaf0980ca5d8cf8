"""A task that goes on from a moment of another one: the same events up to there, and then its own.

What must stay true: the log of a fork is one that a task of its own could have written. What was open at that moment is
closed as a crash would leave it, so the log can be resumed and replayed like any other.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.protocol import codec, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends
from halocline.protocol.subtasks import LaneEnd, SubagentEnded
from halocline.protocol.values import Value
from halocline.store.atomic_file import sync_names

ELSEWHERE = "it stayed with the task that this one is a fork of"
"""What became of a job, or a sub-agent, that ran at the moment of the fork."""
MOVED = (
    "This conversation goes on in a copy of the files: they are in {new} from now on, as they were at this point. "
    "Paths below {old} that were named before are below {new} now."
)
_NAME = re.compile(r"[A-Za-z0-9][\w-]{3,39}")


class Fork(Value, frozen=True):
    """What a fork shall be: its name (empty: a new one), of which task, and from which event on (0: from its end).

    With `model` and `workspace`, these are other ones than the task has.
    """

    name: str
    source: str
    at: int = 0
    model: str = ""
    workspace: str = ""


def fork_events(past: Sequence[ev.DurableEvent], fork: Fork, now: float) -> Iterator[ev.DurableEvent]:
    """The log of the new task; `past` ends with the event it is forked at, `now` is in Unix seconds."""
    begin = past[0] if past else None
    if not isinstance(begin, ev.TaskStarted):
        raise UsageError(f"The log of task {fork.source} has no beginning.", "It cannot be forked.")
    yield _start_event(begin, fork)
    yield from (replace(event, task=fork.name) for event in past[1:])
    state = fold_events(past)
    for number, event in enumerate(_closing_events(state, begin, fork), start=state.seq + 1):
        yield replace(event, seq=number, at=round(now, 3), task=fork.name)


def write_task(folder: Path, events: Iterator[ev.DurableEvent]) -> None:
    """Make a task's folder with this log, which is there as a whole or not at all. Raises UsageError."""
    if not _NAME.fullmatch(folder.name):
        raise UsageError(f"A task cannot be called {folder.name!r}.", "Letters, digits and hyphens; at most 40.")
    lines = b"".join(codec.encode(event) + b"\n" for event in events)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise UsageError(f"There is a task {folder.name} already.", "Choose another name.") from None
    new = folder / f"{codec.LOG_NAME}.new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / codec.LOG_NAME)
    sync_names(folder)
    sync_names(folder.parent)


def fork_of(past: Sequence[ev.DurableEvent], fork: Fork, folder: Path) -> None:
    """Write the log of a fork. Raises UsageError."""
    write_task(folder, fork_events(past, fork, time.time()))


def _start_event(begin: ev.TaskStarted, fork: Fork) -> ev.TaskStarted:
    begun = replace(begin, task=fork.name, forked_from=fork.source, forked_at=fork.at)
    if begin.subtask:  # it stays one that only reads, and is in the lists
        begun = replace(begun, subtask=replace(begin.subtask, parent=""))
    if begin.origin:  # the model of another program is not one to go on with
        begun = replace(begun, model="")
    if not fork.workspace:
        return begun
    prompt = begin.system_prompt.replace(begin.workspace, fork.workspace)
    return replace(begun, workspace=fork.workspace, system_prompt=prompt)


def _closing_events(state: State, begin: ev.TaskStarted, fork: Fork) -> Iterator[ev.DurableEvent]:
    yield from (
        SubagentEnded(lane.call, lane.child, lane.name, LaneEnd.STOPPED, problem=ELSEWHERE) for lane in state.lanes
    )
    yield from loose_ends(state)
    if state.turn is not None:
        yield ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED)
    yield from (ev.JobEnded(job=job.job, command=job.command, stopped=ELSEWHERE) for job in state.jobs)
    if fork.model and fork.model != state.model:
        yield ev.ModelChanged(model=fork.model)
    if fork.workspace and state.messages:
        note = Note(MOVED.format(new=fork.workspace, old=begin.workspace), "environment")
        yield ev.CheckpointRestored(checkpoint="", undo="", content=(note,))
