"""Batch events for a surface that draws or sends them: thirty batches a second, however fast a model writes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from halocline.protocol.events import Event
from halocline.protocol.waiting import end_tasks
from halocline.task.stream import Caught, merge_events

EVERY = 0.033
"""Seconds between batches."""
MOST_BATCHED = 400
"""Largest number of events in a batch."""


async def batch_events(events: AsyncIterator[Event | Caught]) -> AsyncGenerator[tuple[list[Event], bool]]:
    """Yield events in batches, each with True if it begins with a repetition of what is in progress.

    Between batches no event wakes anyone: those that come wait in the reader's queue, where deltas merge.
    """
    upcoming = asyncio.ensure_future(anext(events))
    try:
        while True:
            await asyncio.wait([upcoming])
            batch: list[Event] = []
            fresh, due = False, asyncio.get_running_loop().time() + EVERY
            while len(batch) < MOST_BATCHED and (upcoming.done() or await _wait_for_more(upcoming, due)):
                try:
                    event = upcoming.result()
                except StopAsyncIteration:
                    if batch:
                        yield batch, fresh
                    return
                if isinstance(event, tuple):
                    if batch:
                        yield batch, fresh
                    batch, fresh = list(event), True
                    due = 0.0
                elif batch and (both := merge_events(batch[-1], event)):
                    batch[-1] = both
                else:
                    batch.append(event)
                upcoming = asyncio.ensure_future(anext(events))
                await asyncio.sleep(0)
            yield batch, fresh
    finally:
        await end_tasks(upcoming)


async def _wait_for_more(upcoming: "asyncio.Future[Event | Caught]", due: float) -> bool:
    """Wait until a batch is due. True if another event came meanwhile."""
    left = due - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)
    return upcoming.done()
