"""A task as it was after one of its events: pure, from the log alone."""

from collections.abc import Iterable, Iterator, Sequence

from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

CHANGING = (ev.ToolKind.EDIT, ev.ToolKind.EXECUTE)
"""Calls that may change files."""


class Snapshot(Value, frozen=True):
    """A task after event `seq`: its events, what it knew, the files its tools had written, and their checkpoint."""

    seq: int
    events: tuple[ev.DurableEvent, ...]
    state: State
    files: tuple[str, ...]
    checkpoint: str


class Point(Value, frozen=True):
    """An event that people think of when they want to go back: a prompt, a checkpoint, the end of a turn."""

    seq: int
    at: float
    kind: str
    text: str


def take_snapshot(events: Sequence[ev.DurableEvent], seq: int) -> Snapshot:
    """The task as it was. Raises UsageError when it has no such event."""
    past = tuple(events[: find_place(events, seq)])
    state = fold_events(past)
    return Snapshot(seq, past, state, tuple(sorted(state.files_changed)), checkpoint_at(events, seq))


def find_place(events: Sequence[ev.DurableEvent], seq: int) -> int:
    """How many events are in the log up to `seq`. Raises UsageError when there is none with this number."""
    count = sum(event.seq <= seq for event in events)
    if not count or events[count - 1].seq != seq:
        last = events[-1].seq if events else 0
        raise UsageError(
            f"There is no event {seq}: the task has 1 to {last}.", "List points: halo tasks show TASK --points"
        )
    return count


def checkpoints_elsewhere(events: Sequence[ev.DurableEvent], seq: int) -> dict[str, str]:
    """The checkpoints of the task's other folders as they were after event `seq`, by folder.

    A folder that joined the task later is as it was when it did.
    """
    roots = dict.fromkeys(event.root for event in events if isinstance(event, ev.CheckpointTaken) and event.root)
    return {root: checkpoint_at(events, seq, root) for root in roots}


def find_checkpoints_elsewhere(events: Sequence[ev.DurableEvent], checkpoint: str) -> dict[str, str]:
    """The checkpoints of the other folders that belong to one of the first folder's."""
    for event in reversed(events):
        match event:
            case ev.CheckpointTaken(checkpoint=found, root="") if found == checkpoint:
                return checkpoints_elsewhere(events, _shown_by(events, event))
            case ev.CheckpointRestored(undo=undo, elsewhere=others) if undo == checkpoint:
                return {other.root: other.undo for other in others}
    return {}


def _shown_by(events: Sequence[ev.DurableEvent], taken: ev.CheckpointTaken) -> int:
    """The event after which the files were as a checkpoint of the first folder shows them.

    It is ready some time later, and folders are not ready in their order: the call that it is named after tells.
    """
    first = next(event for event in events if isinstance(event, ev.CheckpointTaken) and not event.root)
    if taken is first:
        return 1
    titles: dict[str, str] = {}
    shown = taken.seq
    for event in events:
        match event:
            case ev.ToolCallStarted() if event.kind in CHANGING:
                titles[event.call] = event.title
            case ev.ToolCallEnded(call=call) if event.seq < taken.seq and call in titles:
                if f"; {taken.label}".endswith(f"; {titles[call]}"):
                    shown = event.seq
    return shown


def checkpoint_at(events: Sequence[ev.DurableEvent], seq: int, root: str = "") -> str:
    """The checkpoint of the files as they were after event `seq`; empty when there is none.

    It is of the workspace, or of another folder of the task, `root`.

    Checkpoints are ready some time after what they show. So it is that of the last call that had ended, as its name
    says; else the newest that was taken by then, or the next one if nothing was begun before it that may change files.
    The first one ever shows the files before any change, however late it was ready, unless it says that it does not.
    """
    events = [event for event in events if not isinstance(event, ev.CheckpointTaken) or event.root == root]
    if _is_unsaved(events, seq):
        return ""
    if late := _late_checkpoint(events, seq):
        return late
    found = ""
    for event in events:
        if isinstance(event, ev.CheckpointTaken):
            if event.seq > seq:
                return event.checkpoint
            found = event.checkpoint
        elif found and event.seq > seq and _may_change_files(event):
            return found
    return found


def _is_unsaved(events: Sequence[ev.DurableEvent], seq: int) -> bool:
    """Tell whether the files of that moment were never saved: they changed before it and again before the next one.

    Before the first checkpoint, one change is enough.
    """
    is_saved, changed_since, changed_after = False, False, False
    for event in events:
        if isinstance(event, ev.CheckpointTaken):
            if event.seq > seq:
                return event.is_late and changed_after and (changed_since or not is_saved)
            is_saved, changed_since = True, False
        elif _is_change(event):
            changed_since = changed_since or event.seq <= seq
            changed_after = changed_after or event.seq > seq
    return False


def _late_checkpoint(events: Sequence[ev.DurableEvent], seq: int) -> str:
    """The checkpoint of the last changing call before `seq`, if it was ready after that; empty when it was not late."""
    titles: dict[str, str] = {}
    last = ""
    for event in events:
        match event:
            case ev.ToolCallStarted() if event.kind in CHANGING:
                titles[event.call] = event.title
                if event.seq > seq and event.title == last:
                    return ""
            case ev.ToolCallEnded(call=call) if event.seq <= seq and call in titles:
                last = titles.pop(call)
            case ev.CheckpointTaken(label=label) if last and label == last:
                if event.seq > seq:
                    return event.checkpoint
                last = ""
    return ""


def _may_change_files(event: ev.DurableEvent) -> bool:
    return _is_change(event) or isinstance(event, ev.CheckpointRestored | ev.TurnEnded)


def _is_change(event: ev.DurableEvent) -> bool:
    """Tell whether the task changes files, or may."""
    started = isinstance(event, ev.ToolCallStarted) and event.kind in CHANGING
    return started or isinstance(event, ev.FileChanged)


def last_completion(events: Sequence[ev.DurableEvent]) -> int:
    """The event with which the newest turn but one ended; the first one when there was none.

    What came since is what the newest turn did.
    """
    began = [event.seq for event in events if isinstance(event, ev.TurnStarted)]
    ends = [event.seq for event in events if isinstance(event, ev.TurnEnded) and began and event.seq < began[-1]]
    return ends[-1] if ends else 1


def list_points(events: Iterable[ev.DurableEvent]) -> Iterator[Point]:
    """Where to go back to, in order."""
    for event in events:
        match event:
            case ev.TurnStarted(content=content):
                yield Point(event.seq, event.at, "prompt", _first_line(content))
            case ev.CheckpointTaken(label=label, root=""):
                yield Point(event.seq, event.at, "files", label)
            case ev.TurnEnded(reason=reason):
                yield Point(event.seq, event.at, "end", reason.value.replace("_", " "))
            case ev.ConversationRestored(to=to):
                yield Point(event.seq, event.at, "back", f"the conversation went back to {to}")
            case ev.CheckpointRestored(changed=changed):
                yield Point(event.seq, event.at, "back", f"the files went back: {len(changed)} changed")


def _first_line(content: tuple[UserPart, ...]) -> str:
    words = "".join(part.text for part in content if isinstance(part, Text))
    return " ".join(words.split())
