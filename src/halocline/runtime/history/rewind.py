"""Takes a task back to one of its moments: its files, its conversation, or both; open here, or in nobody's hands.

A turn that runs is interrupted first. Nothing is deleted from a log: what was done is an event, and can be undone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.restore.restore import Restored
from halocline.checkpoints.shadow_git import Others, ShadowGit
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.file_names import make_printable
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends
from halocline.runtime.history.snapshots import (
    checkpoint_at,
    checkpoints_elsewhere,
    find_checkpoints_elsewhere,
    find_place,
)
from halocline.store.paths import Home
from halocline.task.log import Log, read_log
from halocline.task.task import Task

NAMED = 20
"""Files that the model is told of by name."""
Emit = Callable[[ev.DurableEvent], object]
Stores = Callable[[Path, str], ShadowGit]
"""The checkpoints of a folder, counted as a task's."""


async def rewind_task(
    log: Path, wish: cmd.GoBack, stores: Stores, home: Home, emit: Emit, checkpoint: str = ""
) -> Restored | None:
    """Do it, while no turn runs. `log` is the task's; what happened goes to `emit`.

    Files go to the moment's checkpoint, if none is named; those of all folders of the task, or none. Where nothing was
    saved, the task's edits are taken back one by one.

    Raises:
        UsageError: there is no such moment, or no checkpoint of it.
        HaloclineError: the files cannot be put back; then nothing is done at all.
    """
    events = list(read_log(log))
    find_place(events, wish.to)
    restored = None
    if wish.files and not (checkpoint or checkpoint_at(events, wish.to)):
        from halocline.runtime.history.revert_edits import revert_edits

        restored = await revert_edits(events, wish.to, home, emit)
        emit(restore_event(restored, tell=not wish.conversation))
    elif wish.files:
        sha = checkpoint or checkpoint_at(events, wish.to)
        found = find_checkpoints_elsewhere(events, sha) if checkpoint else checkpoints_elsewhere(events, wish.to)
        state = fold_events(events)
        others, lost = await others_of(state, found, stores)
        restored = await stores(Path(state.workspace), state.task).restore(sha, others, overwrite=wish.overwrite)
        restored = replace(restored, kept=(*restored.kept, *lost))
        emit(restore_event(restored, tell=not wish.conversation))
    if wish.conversation:
        emit(ev.ConversationRestored(to=wish.to))
    return restored


async def others_of(state: State, found: Mapping[str, str], stores: Stores) -> tuple[Others, tuple[str, ...]]:
    """The stores of a task's further folders with the checkpoints that were found, and the folders that have none now.

    These are gone, or left the task, or their checkpoint was given up.
    """
    there = {root: stores(root, state.task) for root in _still_there(state, found)}
    kept = [
        (store, found[str(root)])
        for root, store in there.items()
        if found[str(root)] in {info.sha for info in await store.list()}
    ]
    return kept, tuple(sorted({*found} - {str(store.workspace) for store, _ in kept}))


def _still_there(state: State, found: Mapping[str, str]) -> list[Path]:
    return [Path(root) for root in found if root in state.roots and Path(root).is_dir()]


def restore_event(restored: Restored, *, tell: bool) -> ev.CheckpointRestored:
    """What a log says of a restore; `tell` for a model that goes on and must know of it."""
    return ev.CheckpointRestored(
        checkpoint=restored.checkpoint,
        undo=restored.undo,
        changed=restored.changed,
        kept=(*restored.kept, *restored.lost),
        merged=restored.merges,
        yours=restored.yours,
        conflicts=restored.conflicts,
        others=restored.others,
        doubtful=restored.doubtful,
        content=(_note_for_model(restored.changed),) if tell and restored.changed else (),
        elsewhere=restored.elsewhere,
    )


@asynccontextmanager
async def in_nobodys_hands(folder: Path, task: str) -> AsyncIterator[Log]:
    """The log of a task that no process has open, with what a crash left open closed. Raises TaskBusy."""
    log = Log(folder, task)
    try:
        state = fold_events(log.load())
        for event in loose_ends(state):
            log.append(event)
        if state.turn is not None:
            log.append(ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED))
        yield log
    finally:
        log.close()


async def at_rest(task: Task) -> None:
    """Interrupt the turn that runs, and wait until it has ended."""
    ends = _Ends()
    task.log.attach(ends)
    while (task.state.turn is not None or task.state.compacting) and not ends.is_closed:
        task.inbox.interrupt()
        ends.heard.clear()
        await ends.heard.wait()
    await task.checkpoints.settle()


class _Ends:
    """A subscriber that hears when something ends."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()
        self.is_closed = False

    def push(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnEnded | ev.Compacted | ev.ErrorRaised):
            self.heard.set()

    def close(self) -> None:
        self.is_closed = True
        self.heard.set()


def find_event_before(log: Path, seq: int) -> int:
    """The event before a prompt. Raises UsageError when event `seq` is none."""
    events = list(read_log(log))
    if not isinstance(events[find_place(events, seq) - 1], ev.TurnStarted):
        raise UsageError(f"Event {seq} is not a prompt.", "List points: halo tasks show TASK --points")
    return seq - 1


def event_of(events: Sequence[ev.DurableEvent], checkpoint: str) -> int:
    """The event after which the files were like this checkpoint. Raises UsageError when the log does not know it."""
    for event in reversed(events):
        match event:
            case ev.CheckpointTaken(checkpoint=found) if found == checkpoint:
                return event.seq
            case ev.CheckpointRestored(undo=undo) if undo == checkpoint:
                return event.seq - 1
    raise UsageError(
        f"The task does not say when checkpoint {checkpoint[:10]} was taken.",
        "Put back its files only, without the chat.",
    )


def _note_for_model(changed: Sequence[str]) -> Note:
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    names = ", ".join(map(make_printable, changed[:NAMED])) + more
    text = f"The person put files back to how they were at an earlier point: {names}. Read them again before you edit."
    return Note(text, "environment")
