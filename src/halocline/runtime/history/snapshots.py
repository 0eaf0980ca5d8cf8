"""Snapshots of a task after one of its events: pure, from the log alone."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from halocline.checkpoints.saved import AFTER, BEFORE, FIRST, FOUND
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import CONTINUE, Note, Text, UserPart
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

_WORKS = {"Edit": "edit", "Create": "creation", "Write": "writing", "Delete": "removal", "Patch": "patch"}
LONGEST = 80
"""Characters of a prompt that name it."""
CHANGING = (ToolKind.EDIT, ToolKind.EXECUTE)
"""Calls that may change files."""


class Snapshot(Value, frozen=True):
    """A task after event `seq`: its events, its state, the files its tools had written, and their checkpoint."""

    seq: int
    events: tuple[ev.DurableEvent, ...]
    state: State
    files: tuple[str, ...]
    checkpoint: str


class SnapshotPoint(Value, frozen=True):
    """A point worth rewinding to: a prompt, a checkpoint, the end of a turn. `place` is where a rewind to it leads."""

    seq: int
    at: float
    kind: str
    text: str
    place: str


class PastPrompt(Value, frozen=True):
    """A prompt of a task as it was typed. `is_current` is False once the conversation was rewound to before it."""

    seq: int
    at: float
    text: str
    is_current: bool = True


def take_snapshot(events: Sequence[ev.DurableEvent], seq: int) -> Snapshot:
    """Return the task as it was after event `seq`. Raises UsageError if there is no such event."""
    past = tuple(events[: find_place(events, seq)])
    state = fold_events(past)
    return Snapshot(seq, past, state, tuple(sorted(state.files.changed)), checkpoint_at(events, seq))


def find_place(events: Sequence[ev.DurableEvent], seq: int) -> int:
    """Return the number of events up to `seq`. Raises UsageError if there is no such event."""
    count = sum(event.seq <= seq for event in events)
    if not count or events[count - 1].seq != seq:
        last = events[-1].seq if events else 0
        raise UsageError(
            f"There is no event {seq}: the task has events 1 to {last}.", "List points: halo tasks show TASK --points"
        )
    return count


def checkpoints_elsewhere(events: Sequence[ev.DurableEvent], seq: int) -> dict[str, str]:
    """Return the checkpoints of the task's other folders as they were after event `seq`, by folder.

    A folder that was added later is taken as it was when it was added.
    """
    roots = dict.fromkeys(event.root for event in events if isinstance(event, ev.CheckpointTaken) and event.root)
    return {root: checkpoint_at(events, seq, root) for root in roots}


def find_checkpoints_elsewhere(events: Sequence[ev.DurableEvent], checkpoint: str) -> dict[str, str]:
    """Return the checkpoints of the other folders that belong to a checkpoint of the first folder."""
    for event in reversed(events):
        match event:
            case ev.CheckpointTaken(checkpoint=found, root="") if found == checkpoint:
                return checkpoints_elsewhere(events, shown_by(events, event))
            case ev.CheckpointRestored(undo=undo, elsewhere=others) if undo == checkpoint:
                return {other.root: other.undo for other in others}
    return {}


def shown_by(events: Sequence[ev.DurableEvent], taken: ev.CheckpointTaken) -> int:
    """Return the event after which the files were as in a checkpoint of the first folder.

    A checkpoint is ready some time later, and folders finish in any order, so go by the call it is named after.
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
    """Return the checkpoint of the files as they were after event `seq`; empty if there is none.

    It is of the workspace, or of the task's other folder `root`.

    Checkpoints are ready some time after the state they show. So it is the one named after the last call that had
    ended; else the newest one taken by then, or the next one if nothing that may change files started before it.
    The very first one shows the files before any change, however late it was ready, unless it is marked as late.
    A restore made the files as they are in its checkpoint, which is older than what was taken until then.
    """
    events = [event for event in events if not isinstance(event, ev.CheckpointTaken) or event.root == root]
    events = [_name_restored(event, root) for event in events]
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
        elif isinstance(event, ev.CheckpointRestored) and event.seq <= seq:
            found = event.checkpoint or found
        elif found and event.seq > seq and _may_change_files(event):
            return found
    return found


def _name_restored(event: ev.DurableEvent, root: str) -> ev.DurableEvent:
    """Return a restore with the checkpoint that it put into a folder; with none if it undid edits one by one."""
    if not isinstance(event, ev.CheckpointRestored):
        return event
    if root:
        return replace(event, checkpoint=next((one.checkpoint for one in event.elsewhere if one.root == root), ""))
    return replace(event, checkpoint="") if "@" in event.checkpoint else event


def _is_unsaved(events: Sequence[ev.DurableEvent], seq: int) -> bool:
    """True if the files at that point were never saved: they changed before it and again before the next checkpoint.

    Before the first checkpoint, one change is enough.
    """
    is_saved, changed_since, changed_after = False, False, False
    for event in events:
        if isinstance(event, ev.CheckpointTaken):
            if event.seq > seq:
                return event.is_late and changed_after and (changed_since or not is_saved)
            is_saved, changed_since = True, False
        elif isinstance(event, ev.CheckpointRestored) and event.checkpoint:
            is_saved, changed_since = is_saved or event.seq <= seq, changed_since and event.seq > seq
            changed_after = changed_after or event.seq > seq
        elif _is_change(event):
            changed_since = changed_since or event.seq <= seq
            changed_after = changed_after or event.seq > seq
    return False


def _late_checkpoint(events: Sequence[ev.DurableEvent], seq: int) -> str:
    """Return the checkpoint of the last changing call before `seq` if it was ready only after `seq`, else empty."""
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
            case ev.CheckpointRestored() if event.seq <= seq:
                last = ""
            case ev.CheckpointTaken(label=label) if last and label == last:
                if event.seq > seq:
                    return event.checkpoint
                last = ""
    return ""


def _may_change_files(event: ev.DurableEvent) -> bool:
    return _is_change(event) or isinstance(event, ev.CheckpointRestored | ev.TurnEnded)


def _is_change(event: ev.DurableEvent) -> bool:
    """True if the event changes files, or may."""
    started = isinstance(event, ev.ToolCallStarted) and event.kind in CHANGING
    return started or isinstance(event, ev.FileChanged)


def last_completion(events: Sequence[ev.DurableEvent]) -> int:
    """Return the event that ended the last turn but one, or 1. Everything after it was done by the newest turn.

    Turns that the conversation was rewound from do not count.
    """
    current = _list_current(events)
    began = [event.seq for event in events if isinstance(event, ev.TurnStarted) and event.seq in current]
    ends = [event.seq for event in events if isinstance(event, ev.TurnEnded) and began and event.seq < began[-1]]
    return ends[-1] if ends else 1


def list_points(events: Sequence[ev.DurableEvent]) -> Iterator[SnapshotPoint]:
    """Yield the points worth rewinding to, in order; that before the first change, unless its turn changed nothing."""
    name, idle = "the turn", _find_idle(events)
    for event in events:
        match event:
            case ev.TurnStarted(content=content):
                text = _first_line(content)
                name = f"“{text if len(text) <= LONGEST else f'{text[:LONGEST]}…'}”"
                yield SnapshotPoint(event.seq, event.at, "prompt", text, f"before {name}")
            case ev.CheckpointTaken(label=label, root="") if event.seq not in idle:
                yield SnapshotPoint(event.seq, event.at, "files", label, name_checkpoint(label))
            case ev.TurnEnded(reason=reason):
                yield SnapshotPoint(event.seq, event.at, "end", reason.value.replace("_", " "), f"the end of {name}")
            case ev.ConversationRestored(to=to):
                text = f"conversation rewound to event {to}"
                yield SnapshotPoint(event.seq, event.at, "back", text, "just after a rewind")
            case ev.CheckpointRestored(changed=changed):
                text = f"files restored: {len(changed)} changed"
                yield SnapshotPoint(event.seq, event.at, "back", text, "just after files were restored")


def _find_idle(events: Iterable[ev.DurableEvent]) -> set[int]:
    """Return the first checkpoint of a task if its turn ended without a change: it was taken for a call that failed."""
    idle, first, is_changed = set[int](), 0, False
    for event in events:
        match event:
            case ev.TurnStarted():
                first, is_changed = 0, False
            case ev.CheckpointTaken(label=label, root="") if label in ("", FIRST):
                first = event.seq
            case ev.CheckpointTaken() | ev.FileChanged() | ev.FilesChangedOutside():
                is_changed = True
            case ev.TurnEnded() if not is_changed:
                idle.add(first)
    return idle


def name_checkpoint(label: str) -> str:
    """Say where a rewind to a checkpoint with this label leads."""
    verb, _, rest = label.partition(" ")
    if label in ("", FIRST):
        return "just before the first change"
    if label == FOUND:
        return "just after changes by you or another program"
    if label.startswith((BEFORE, AFTER)):
        return f"just {label[0].lower()}{label[1:]}"
    if verb in _WORKS and rest and ";" not in rest:
        return f"just after the {_WORKS[verb]} of {rest}"
    return f"just after “{label}”"


def list_prompts(events: Sequence[ev.DurableEvent]) -> Iterator[PastPrompt]:
    """Yield the prompts of a task, in order, also those that the conversation was rewound from."""
    current = _list_current(events)
    for event in events:
        if isinstance(event, ev.TurnStarted):
            text = next((part.text for part in event.content if isinstance(part, Text)), "")
            yield PastPrompt(event.seq, event.at, text, event.seq in current)


def _list_current(events: Sequence[ev.DurableEvent]) -> set[int]:
    """The events that the conversation consists of: at each rewind, it continues from the event that this went to."""
    current: set[int] = set()
    place = len(events)
    while place:
        event = events[place - 1]
        if isinstance(event, ev.ConversationRestored):
            place = sum(earlier.seq <= event.to for earlier in events)
            continue
        current.add(event.seq)
        place -= 1
    return current


def _first_line(content: tuple[UserPart, ...]) -> str:
    words = "".join(part.text for part in content if isinstance(part, Text))
    wordless = (
        "[continue]" if any(isinstance(part, Note) and part.source == CONTINUE for part in content) else "[image]"
    )
    return " ".join(words.split()) or wordless
