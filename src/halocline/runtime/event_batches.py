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
    """Yield events in batches, each with True if it begins with a repetition of what is in progress."""
    upcoming = asyncio.ensure_future(anext(events))
    try:
        while True:
            batch: list[Event] = []
            fresh = False
            deadline: float | None = None
            while len(batch) < MOST_BATCHED:
                left: float | None = None if deadline is None else deadline - asyncio.get_running_loop().time()
                await asyncio.wait([upcoming], timeout=left)
                if not upcoming.done():
                    break
                event = upcoming.result()
                if isinstance(event, tuple):
                    if batch:
                        yield batch, fresh
                    batch, fresh = list(event), True
                    deadline = asyncio.get_running_loop().time()
                else:
                    if batch and (both := merge_events(batch[-1], event)):
                        batch[-1] = both
                    else:
                        batch.append(event)
                    deadline = deadline or asyncio.get_running_loop().time() + EVERY
                upcoming = asyncio.ensure_future(anext(events))
            yield batch, fresh
    except StopAsyncIteration:
        return
    finally:
        await end_tasks(upcoming)
