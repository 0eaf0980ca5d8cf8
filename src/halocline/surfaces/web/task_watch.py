"""The events of a task for a page: from its log while it is closed, and live while it is open here or elsewhere."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass

from halocline.client.tasks import MOST_BATCHED, batch_events
from halocline.protocol.events import Durable, Event
from halocline.surfaces.web.open_tasks import LOOK_EVERY, OpenTasks


@dataclass(frozen=True, slots=True)
class EventBatch:
    """`fresh`: transient state is sent again, so drop it first. `live`: all of the past was sent."""

    events: Sequence[Event]
    fresh: bool
    live: bool


async def watch_task(tasks: OpenTasks, task: str, after: int) -> AsyncGenerator[EventBatch, None]:
    """Yield a task's events after `after`, for as long as it can be read; meanwhile it counts as viewed.

    Raises HaloclineError if it cannot, and the error that broke it.
    """
    tasks.known(task)
    live = False
    with tasks.watched(task):
        while True:
            was_open = tasks.client.is_open(task)
            async for batch in (_follow_open if was_open else _read_closed)(tasks, task, after, live):
                yield batch
                live = batch.live
                after = max((event.seq for event in batch.events if isinstance(event, Durable)), default=after)
            if was_open and (broke := await tasks.ended(task)):
                raise broke


async def _follow_open(tasks: OpenTasks, task: str, after: int, live: bool) -> AsyncIterator[EventBatch]:
    async for events, fresh in batch_events(tasks.client.live(task, after)):
        live = live or fresh
        yield EventBatch(events, fresh, live)


async def _read_closed(tasks: OpenTasks, task: str, after: int, live: bool) -> AsyncIterator[EventBatch]:
    """Read a log and its additions until the task opens; it is joined if another process writes it."""
    client = tasks.client
    log = client.home.log(task)
    size, writer = -1, ""
    while not client.is_open(task):
        before = size, writer
        writer = client.tasks.writer(task)
        size = log.stat().st_size if log.exists() else 0
        if size != before[0]:
            past = [event for event in await asyncio.to_thread(client.past, task) if event.seq > after]
            for begin in range(0, len(past), MOST_BATCHED) or (0,):
                is_all = begin + MOST_BATCHED >= len(past)
                # What was running when it closed is not running any more.
                yield EventBatch(past[begin : begin + MOST_BATCHED], fresh=live and not begin, live=live or is_all)
            after, live = past[-1].seq if past else after, True
        # A writer may have been killed since then; it is joined all the same, so that what it asked is asked here.
        # While closing a task, this process holds it a moment longer: do not join it for that.
        has_other = writer not in ("", str(os.getpid()))
        waits = tasks.opens_waiting and not writer and (size, writer) != before
        if has_other or (waits and tasks.state(task).is_asking):
            await tasks.join(task)
        if not client.is_open(task):
            await asyncio.sleep(LOOK_EVERY)
