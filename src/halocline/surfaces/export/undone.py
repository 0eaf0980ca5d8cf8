"""The edits of a task that no longer stand, because files were restored after them."""

from bisect import bisect_right
from collections.abc import Iterable

from halocline.protocol import events as ev
from halocline.protocol.values import Value

Edits = dict[str, tuple[str, ...]]
"""The calls whose edits of a file stand, by path."""


class Undone(Value, frozen=True):
    """Edits that were undone, as call and path. `since_end`: files were restored after the last turn."""

    edits: frozenset[tuple[str, str]] = frozenset()
    since_end: bool = False


NOTHING = Undone()


class _History:
    """Edits by the event after which they stood, and the events whose files checkpoints show."""

    def __init__(self) -> None:
        self.now: Edits = {}
        self._past: list[tuple[int, Edits]] = [(0, {})]
        self._shown: dict[str, int] = {}
        self._ends: dict[str, int] = {}

    def change(self, seq: int, files: Edits) -> None:
        self.now = {**self.now, **files}
        self._past.append((seq, self.now))

    def note_end(self, title: str, seq: int) -> None:
        self._ends.pop(title, None)  # the newest is last
        self._ends[title] = seq

    def note_taken(self, taken: ev.CheckpointTaken) -> None:
        """Note what a checkpoint shows: it is ready some time later, and named after a call."""
        named = (at for title, at in reversed(self._ends.items()) if f"; {taken.label}".endswith(f"; {title}"))
        self._shown[taken.checkpoint] = next(named, taken.seq) if self._shown else 0

    def restore(self, event: ev.CheckpointRestored) -> None:
        self._shown.setdefault(event.undo, event.seq - 1)
        _, at, number = event.checkpoint.rpartition("@")
        seq = int(number) if at and number.isdecimal() else self._shown.get(event.checkpoint)
        if seq is not None:
            then = self._past[bisect_right(self._past, seq, key=lambda one: one[0]) - 1][1]
            self.change(event.seq, {path: then.get(path, ()) for path in event.changed})


def find_undone(events: Iterable[ev.DurableEvent]) -> Undone:
    """Find what restores of files took back, and did not bring again."""
    history, titles = _History(), dict[str, str]()
    made, at_end = set[tuple[str, str]](), Edits()
    for event in events:
        match event:
            case ev.ToolCallStarted():
                titles[event.call] = event.title
            case ev.FileChanged() if event.cause in titles:
                made.add((event.cause, event.path))
                history.change(event.seq, {event.path: (*history.now.get(event.path, ()), event.cause)})
            case ev.ToolCallEnded():
                history.note_end(titles.get(event.call, ""), event.seq)
            case ev.CheckpointTaken(root=""):
                history.note_taken(event)
            case ev.CheckpointRestored():
                history.restore(event)
            case ev.TurnEnded():
                at_end = history.now
            case _:
                pass
    standing = {(call, path) for path, calls in history.now.items() for call in calls}
    return Undone(frozenset(made - standing), _list_kept(history.now) != _list_kept(at_end))


def _list_kept(edits: Edits) -> Edits:
    return {path: calls for path, calls in edits.items() if calls}
