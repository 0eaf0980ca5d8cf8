"""The move of a task to the place to which its folder was renamed."""

from collections.abc import Sequence

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.messages import Note
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.store.tasks.renamed import FoldersHere

MOVED = (
    "The user renamed the folder of this task: {old} is now {new}. Its files are the same. "
    "Use {new} in place of {old} in all paths mentioned so far."
)


def add_move(past: Sequence[ev.DurableEvent], here: FoldersHere) -> Sequence[ev.DurableEvent]:
    """Return the past of a task as it would continue here."""
    moves = find_move(past, fold_events(past), here)
    return (*past, *(replace(move, seq=past[-1].seq + 1, at=past[-1].at) for move in moves))


def find_move(past: Sequence[ev.DurableEvent], state: State, here: FoldersHere) -> tuple[ev.WorkspaceMoved, ...]:
    """Return the event with which a task continues in one of the folders `here`, if its own was renamed to that."""
    begin = past[0] if past else None
    new = here.find(state.workspace, begin.folder_mark) if isinstance(begin, ev.TaskStarted) else state.workspace
    if new == state.workspace:
        return ()
    note = Note(MOVED.format(old=state.workspace, new=new), "environment")
    return (ev.WorkspaceMoved(new, state.workspace, (note,)),)
