"""Idempotency keys: a request runs once, however often a page repeats it after losing its connection."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from halocline.protocol.errors import UsageError
from halocline.protocol.waiting import end_tasks

REMEMBERED = 2_000
"""Number of answers kept for repeated requests."""
LARGEST = 64
"""Maximum characters of an id."""


class IdempotencyKeys:
    """Answers by the ids that pages create."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, asyncio.Task[Any]] = OrderedDict()

    async def answer(self, id: str, do: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of `do`, or the earlier one of this id. Runs to its end even if the caller leaves."""
        if not 0 < len(id) <= LARGEST:
            raise UsageError(f"An id has 1 to {LARGEST} characters.", "Reload the page.")
        if id not in self._done:
            self._done[id] = asyncio.create_task(_as_coroutine(do))
            self._done[id].add_done_callback(_swallow_error)
            self._forget()
        return await asyncio.shield(self._done[id])

    async def close(self) -> None:
        """Cancel what is still running."""
        await end_tasks(*self._done.values())

    def _forget(self) -> None:
        """Drop old answers; unfinished ones stay, however old."""
        for id in [*self._done][: len(self._done) - REMEMBERED]:
            if self._done[id].done():
                self._done.pop(id)


def _swallow_error(task: asyncio.Task[Any]) -> None:
    """Retrieve the error, so that asyncio does not log it if the caller left."""
    if not task.cancelled():
        task.exception()


async def _as_coroutine(do: Callable[[], Awaitable[Any]]) -> Any:
    return await do()
