"""Events in batches, for a surface that draws or sends them: however fast a model writes, there are thirty a second."""

import asyncio
from collections.abc import AsyncIterator

from halocline.protocol.events import Event
from halocline.task.stream import Caught, joined_with

EVERY = 0.033
"""Seconds between two batches."""
MOST = 400
"""Events in a batch."""


async def batch_events(events: AsyncIterator[Event | Caught]) -> AsyncIterator[tuple[list[Event], bool]]:
    """Events as they come, those of some milliseconds at once; with whether they begin with what goes on now."""
    upcoming = asyncio.ensure_future(anext(events))
    try:
        while True:
            batch: list[Event] = []
            fresh = False
            deadline: float | None = None
            while len(batch) < MOST:
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
                    if batch and (both := joined_with(batch[-1], event)):
                        batch[-1] = both
                    else:
                        batch.append(event)
                    deadline = deadline or asyncio.get_running_loop().time() + EVERY
                upcoming = asyncio.ensure_future(anext(events))
            yield batch, fresh
    except StopAsyncIteration:
        return
    finally:
        upcoming.cancel()
