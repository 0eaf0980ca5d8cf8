from collections.abc import Iterator, Sequence

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason, Text
from halocline.services.replay.timeline import Course


class CountingEvents(Sequence):
    """Events that count how many of them were read."""

    def __init__(self, events: Sequence[ev.DurableEvent]) -> None:
        self._events = events
        self.read = 0

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, at):
        found = self._events[at]
        self.read += len(found) if isinstance(at, slice) else 1
        return found

    def __iter__(self) -> Iterator[ev.DurableEvent]:
        self.read += len(self._events)
        return iter(self._events)


def read_per_event(steps: int) -> float:
    """How many events a course looks at for each that happens."""
    happened = (ev.TurnStarted((Text("Go."),)), *(ev.StepStarted("m") for _ in range(steps)))
    events = CountingEvents((*happened, ev.TurnEnded(StopReason.END_TURN)))
    course = Course(events, str, strict=True)
    for event in happened:
        course.push(event)
        course.seconds(None)
        course.step_ahead()
        next(course.behind())
    assert (course.steps, course.differences) == (steps, [])
    return events.read / len(events)


def test_what_a_replay_looks_at_for_each_event_does_not_grow_with_the_log():
    assert read_per_event(4_000) < 1.1 * read_per_event(200)
