"""Run a batch: as many items at once as are wanted, the rest in order, until all have ended or it is stopped."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Protocol

from halocline.batch.purse import Purse
from halocline.batch.queue import Queue, Standing
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import StepRetried
from halocline.protocol.state.state import State


class Runner(Protocol):
    """Runs items: `work.Worker` in this process, `fleet.fleet.Fleet` on the nodes of a cluster."""

    purse: Purse

    @property
    def is_stopping(self) -> bool:
        """True once `stop` was called."""

    async def run(self, standing: Standing) -> None:
        """Run an item, or what is left of it, and write its end into the queue. Raises HaloclineError."""

    def stop(self) -> None:
        """Interrupt what runs; each item continues with the next run of the batch."""

    async def close(self) -> None:
        """Close what is open."""

    def read_cost(self, standing: Standing) -> float | None:
        """Return what the task of an item has cost, by its log."""

    def read_state(self, id: str) -> State | None:
        """Return the state of an item's task while it runs."""

    def read_wait(self, id: str) -> StepRetried | None:
        """Return what the request of an item waits for, as far as that is known here; None if it does not wait."""


class Batch:
    """A batch whose queue is open. `note` is called with an item's id when it begins and when it ended."""

    def __init__(
        self,
        queue: Queue,
        runner: Runner,
        *,
        at_once: int,
        note: Callable[[str], None] = lambda id: None,
        only: frozenset[str] | None = None,
    ) -> None:
        self.queue = queue
        self.purse = runner.purse
        self.read_state = runner.read_state
        self.read_wait = runner.read_wait
        self.stop = runner.stop
        self._runner = runner
        self._note = note
        self._only = only
        self._at_once = at_once

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
            was_stopped = self._runner.is_stopping
            self.stop()
            await self._runner.close()
        return was_stopped

    def _count_costs(self) -> None:
        """Count what all tasks of the batch have cost so far, those that have not ended by their logs."""
        for one in self.queue.items.values():
            self.purse.spend(one.cost)
            if one.outcome:
                self.purse.spend(one.outcome.cost)
            elif one.task:
                self.purse.note(one.item.id, self._runner.read_cost(one))

    def _is_ours(self, standing: Standing) -> bool:
        return self._only is None or standing.item.id in self._only

    async def _take_items(self, source: Iterator[Standing]) -> None:
        for standing in source:
            if self._runner.is_stopping:
                return
            if self.purse.is_spent:
                continue  # it has no end, so it runs, or continues, when there is more money
            self._note(standing.item.id)
            await self._runner.run(standing)
            self._note(standing.item.id)
