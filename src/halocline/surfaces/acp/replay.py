"""The conversation of a task as it stands: what a client is sent that loads it."""

from collections.abc import Iterator, Sequence

from halocline.protocol import events as ev
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import loose_ends


def list_standing(past: Sequence[ev.DurableEvent]) -> Iterator[ev.DurableEvent]:
    """Yield the events of a task without those that were rewound, in their order. A name that was given stays.

    A rewind continues from the point that it went to, which may have been rewound before.
    """
    rewind = _find_rewind(past)
    if rewind is None:
        yield from past
        return
    at, to = rewind
    kept = sum(event.seq <= to for event in past[:at])
    yield from list_standing(past[:kept])
    if _is_in_turn(past[:kept]):
        yield from loose_ends(fold_events(past[:kept]))
    yield from (event for event in past[kept:at] if isinstance(event, ev.TaskLabelled))
    yield from past[at + 1 :]


def _find_rewind(past: Sequence[ev.DurableEvent]) -> tuple[int, int] | None:
    """Return the place of the newest rewind and the event that it went to; None if there is none."""
    for at in range(len(past) - 1, -1, -1):
        if isinstance(event := past[at], ev.ConversationRestored):
            return at, event.to
    return None


def _is_in_turn(past: Sequence[ev.DurableEvent]) -> bool:
    newest = next((event for event in reversed(past) if isinstance(event, ev.TurnStarted | ev.TurnEnded)), None)
    return isinstance(newest, ev.TurnStarted)
