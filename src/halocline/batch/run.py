"""Run a batch: as many items at once as are wanted, the rest in order, until all have ended or it is stopped."""

import asyncio
from collections.abc import Callable, Iterator

from halocline.batch.places import Places
from halocline.batch.purse import Purse
from halocline.batch.queue import Queue, Standing
from halocline.batch.work import Clients, Manner, Worker
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.state import State


class Batch:
    """A batch whose queue is open. `note` is called with an item's id whenever something happens in it."""

    def __init__(
        self,
        queue: Queue,
        places: Places,
        manner: Manner,
        *,
        clients: Clients,
        at_once: int,
        max_total_cost: float | None = None,
        note: Callable[[str], None] = lambda id: None,
        only: frozenset[str] | None = None,
    ) -> None:
        self.queue = queue
        self.purse = Purse(max_total_cost)
        self._note = note
        self._only = only
        self._at_once = at_once
        self._clients = clients
        self._worker = Worker(queue, places, self._clients, manner, self.purse, note)
        self._running: set[asyncio.Task[None]] = set()

    @property
    def is_stopping(self) -> bool:
        return self._worker.is_stopping

    def read_state(self, id: str) -> State | None:
        """Return the state of an item's task while it runs."""
        client, task = self._worker.tasks.get(id, (None, ""))
        return client.state(task) if client and client.is_open(task) else None

    async def run(self) -> bool:
        """Run what has not ended; True if `stop` was called. Raises HaloclineError if the queue cannot be written."""

        waiting = [one for one in self.queue.items.values() if one.outcome is None and self._is_ours(one)]
        waiting.sort(key=lambda one: not one.task)  # those that began come first: their places are there
        source = iter(waiting)
        await asyncio.to_thread(self._count_costs)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._at_once, len(waiting))):
                    group.create_task(self._take_items(source))
        except ExceptionGroup as errors:
            known, bugs = errors.split(HaloclineError)
            if bugs or not known:
                raise
            raise known.exceptions[0] from None
        finally:
            was_stopped = self.is_stopping
            self.stop()
            await self._clients.close()
        return was_stopped

    def stop(self) -> None:
        """Begin no further item, and interrupt those that run: they continue with the next run of this batch."""
        self._worker.stop()

    def _count_costs(self) -> None:
        """Count what all tasks of the batch have cost so far, those that have not ended by their logs."""
        for one in self.queue.items.values():
            self.purse.spend(one.cost)
            if one.outcome:
                self.purse.spend(one.outcome.cost)
            elif one.task:
                self.purse.note(one.item.id, self._worker.read_cost(one))

    def _is_ours(self, standing: Standing) -> bool:
        return self._only is None or standing.item.id in self._only

    async def _take_items(self, source: Iterator[Standing]) -> None:
        for standing in source:
            if self.is_stopping:
                return
            if self.purse.is_spent:
                continue  # it has no end, so it runs, or continues, when there is more money
            self._note(standing.item.id)
            await self._worker.run(standing)
            self._note(standing.item.id)
