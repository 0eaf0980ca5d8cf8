"""What was asked for is done once, however often a page that lost its connection says it."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from halocline.protocol.errors import UsageError

REMEMBERED = 2_000
"""Answers that are kept, for pages that say again what they do not know the fate of."""
LARGEST = 64
"""Characters of an id."""


class IdempotencyKeys:
    """By the ids that pages make."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, asyncio.Task[Any]] = OrderedDict()

    async def answer(self, id: str, do: Callable[[], Awaitable[Any]]) -> Any:
        """What `do` gives, or gave before for this id; it goes on when nobody waits any more. Raises as `do` does."""
        if not 0 < len(id) <= LARGEST:
            raise UsageError(f"An id has 1 to {LARGEST} characters.", "Reload the page.")
        if id not in self._done:
            self._done[id] = asyncio.create_task(_as_coroutine(do))
            self._done[id].add_done_callback(_swallow_error)
            self._forget()
        return await asyncio.shield(self._done[id])

    async def close(self) -> None:
        """Wait for nothing any more."""
        for task in self._done.values():
            task.cancel()
        await asyncio.gather(*self._done.values(), return_exceptions=True)

    def _forget(self) -> None:
        """What is still being done is kept, however old."""
        for id in [*self._done][: len(self._done) - REMEMBERED]:
            if self._done[id].done():
                self._done.pop(id)


def _swallow_error(task: asyncio.Task[Any]) -> None:
    """Who asked may have left: asyncio shall not complain of an error that nobody takes."""
    if not task.cancelled():
        task.exception()


async def _as_coroutine(do: Callable[[], Awaitable[Any]]) -> Any:
    return await do()
