"""Rewind a task to a point in its past: its files, its conversation, or both. The task is open here or nowhere.

A running turn is interrupted first. Nothing is deleted from a log: a rewind is an event, and can be undone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from halocline.checkpoints.restore.restore import Restored
from halocline.checkpoints.shadow_git import Others, ShadowGit
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.rewind import restore_state
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends
from halocline.runtime.history.losses import find_kept_checkpoint
from halocline.runtime.history.moved_workspace import find_move
from halocline.runtime.history.revert import revert_edits
from halocline.runtime.history.snapshots import (
    checkpoints_elsewhere,
    find_checkpoints_elsewhere,
    find_place,
)
from halocline.runtime.history.unsaved_edits import find_unsaved_edits, revert_unsaved
from halocline.store.paths import Home
from halocline.store.tasks.renamed import FoldersHere
from halocline.task.log import Log, read_log
from halocline.task.task import Task

NAMED = 20
"""Files named in the note for the model."""
Emit = Callable[[ev.DurableEvent], object]
Stores = Callable[[Path, str], ShadowGit]
"""Opens the checkpoint store of a folder for a task, by its id."""


async def rewind_task(
    log: Path, request: cmd.GoBack, stores: Stores, home: Home, emit: Emit, checkpoint: str = ""
) -> Restored | None:
    """Rewind a task in which no turn runs; events go to `emit`.

    Files are restored to the named checkpoint or that of the point, in all folders of the task or none. Without a
    checkpoint, the task's edits are reverted one by one.

    Raises:
        UsageError: there is no such point, or no checkpoint of it.
        HaloclineError: the files cannot be restored; then nothing is done at all.
    """
    events = list(read_log(log))
    find_place(events, request.to)
    restored = None
    sha = checkpoint
    if request.files and not sha:
        sha = await asyncio.to_thread(find_kept_checkpoint, home, events, request.to)
    sha = sha if request.files else ""
    if request.files and not sha:
        restored = await revert_edits(events, request.to, home, emit)
        emit(restore_event(restored, tell=not request.conversation))
    elif sha:
        found = find_checkpoints_elsewhere(events, sha) if checkpoint else checkpoints_elsewhere(events, request.to)
        state = fold_events(events)
        others, lost = await others_of(state, found, stores)
        edits = await asyncio.to_thread(find_unsaved_edits, events, request.to)
        store, always = stores(Path(state.workspace), state.task), bool(edits.reverts)
        restored = await store.restore(sha, others, overwrite=request.overwrite, always=always)
        try:
            restored, changes = await revert_unsaved(edits, restored.adding(kept=lost), home)
            for event in changes:
                emit(event)
        finally:  # what was restored is told also if the rest fails
            emit(restore_event(restored, tell=not request.conversation))
            store.forget_made()
    if request.conversation:
        _rewind_conversation(fold_events(events), request.to, emit)
    return restored


def _rewind_conversation(now: State, to: int, emit: Emit) -> None:
    event = ev.ConversationRestored(to=to)
    emit(event)
    if now.plan.mode is Mode.PLAN and restore_state(now, event).plan.mode is not Mode.PLAN:
        emit(ev.ModeChanged(mode=Mode.PLAN))  # going back to what was said must not let anything change files


async def others_of(state: State, found: Mapping[str, str], stores: Stores) -> tuple[Others, tuple[str, ...]]:
    """Return the stores of a task's other folders with their checkpoints, and the folders without one.

    These folders are gone, or were removed from the task, or their checkpoint was deleted.
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
    """Build the event for a restore; `tell` adds a note for a model that continues and must know of it."""
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
        left_out=restored.left_out,
        content=(_note_for_model(restored.changed),) if tell and restored.changed else (),
        elsewhere=restored.elsewhere,
    )


@asynccontextmanager
async def in_nobodys_hands(folder: Path, task: str, here: FoldersHere) -> AsyncIterator[Log]:
    """Open the log of a task that no process has open, closing what a crash left open; it continues `here`.

    Raises HaloclineError.
    """
    log = Log(folder, task, goes_on=True)
    try:
        past = log.load()
        state = fold_events(past)
        for event in loose_ends(state):
            log.append(event)
        if state.turn is not None:
            log.append(ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED))
        for move in find_move(past, state, here):
            log.append(move)
        yield log
    finally:
        log.close()


async def at_rest(task: Task) -> None:
    """Interrupt the running turn, and wait until it has ended."""
    ends = _Ends()
    task.log.attach(ends)
    while (task.state.turn is not None or task.state.compaction.running) and not ends.is_closed:
        task.inbox.interrupt_turn(task.state.turn)
        ends.has_ended.clear()
        await ends.has_ended.wait()
    await task.checkpoints.settle()


class _Ends:
    """A subscriber that notices when a turn or a compaction ends."""

    def __init__(self) -> None:
        self.has_ended = asyncio.Event()
        self.is_closed = False

    def push(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnEnded | ev.Compacted | ev.ErrorRaised):
            self.has_ended.set()

    def close(self) -> None:
        self.is_closed = True
        self.has_ended.set()


def find_event_before(log: Path, seq: int) -> int:
    """Return the event before the prompt `seq`. Raises UsageError if `seq` is not a prompt."""
    events = list(read_log(log))
    if not isinstance(events[find_place(events, seq) - 1], ev.TurnStarted):
        raise UsageError(f"Event {seq} is not a prompt.", "List points: halo tasks show TASK --points")
    return seq - 1


def event_of(events: Sequence[ev.DurableEvent], checkpoint: str) -> int:
    """Return the event after which the files were as in this checkpoint. Raises UsageError if the log has none."""
    for event in reversed(events):
        match event:
            case ev.CheckpointTaken(checkpoint=found) if found == checkpoint:
                return event.seq
            case ev.CheckpointRestored(undo=undo) if undo == checkpoint:
                return event.seq - 1
    raise UsageError(
        f"The task's log does not record checkpoint {checkpoint[:10]}, so the chat cannot be rewound to it.",
        "Restore its files only.",
    )


def _note_for_model(changed: Sequence[str]) -> Note:
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    names = ", ".join(map(make_printable, changed[:NAMED])) + more
    who = "The user took changes back, with /undo or another restore, so these files are as they were earlier"
    return Note(f"{who}: {names}. Read them again before you edit them.", "environment")
