"""Events in batches, as surfaces draw and send them."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from halocline.protocol import events as ev
from halocline.protocol.kinds import Mode
from halocline.runtime.event_batches import batch_events


async def told(events: Sequence[ev.Event | tuple[ev.TransientEvent, ...] | None]) -> AsyncIterator[ev.Event]:
    """Each event at once; None: a while after the one before."""
    for event in events:
        if event is None:
            await asyncio.sleep(0.1)
        else:
            yield event  # type: ignore[misc]


async def test_what_comes_together_is_one_batch_with_deltas_joined_also_the_last_before_the_end():
    mode = ev.ModeChanged(Mode.PLAN, seq=1)
    given = [ev.TextDelta("a"), ev.TextDelta("b"), None, mode, ev.TextDelta("c")]
    found = [batch async for batch in batch_events(told(given))]
    assert found == [([ev.TextDelta("ab")], False), ([mode, ev.TextDelta("c")], False)]


async def test_what_is_in_progress_is_told_again_in_a_batch_of_its_own():
    again = (ev.TextDelta("so far"),)
    found = [batch async for batch in batch_events(told([ev.TextDelta("so "), again, None, ev.TextDelta("on")]))]
    assert found == [([ev.TextDelta("so ")], False), ([*again], True), ([ev.TextDelta("on")], False)]
