"""Sign-ins in progress: started and awaited by a page, canceled when the server stops."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks

MOST = 8
"""Concurrent sign-ins; one more cancels the oldest."""


class Begun(Value, frozen=True, omit_defaults=False):
    """A started sign-in; `url` is the page to open, empty if there is none."""

    id: str
    url: str


Show = Callable[[str], None]
Pasted = Callable[[], Awaitable[str | None]]
Run = Callable[[Show, Pasted], Awaitable[Any]]
"""Performs a sign-in, given a function that shows a page and one that awaits a pasted address."""


class SignIns:
    """The sign-ins of one server."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._carried: dict[str, asyncio.Queue[str]] = {}

    async def begin(self, run: Run) -> Begun:
        """Start a sign-in; return once there is a page to show or it is over. Raises what `run` does before that."""
        while len(self._running) >= MOST:
            await self._drop(next(iter(self._running)))
        id, page, carried = uuid4().hex, asyncio.get_running_loop().create_future(), asyncio.Queue[str](MOST)

        def show(url: str) -> None:
            if not page.done():
                page.set_result(url)

        task = asyncio.ensure_future(_as_coroutine(run, show, carried.get))
        self._running[id], self._carried[id] = task, carried
        await asyncio.wait({task, page}, return_when=asyncio.FIRST_COMPLETED)
        if not page.done() and task.exception():
            await self._drop(id)
            await task
        return Begun(id, page.result() if page.done() else "")

    async def wait(self, id: str) -> Any:
        """Wait for the result. Raises UsageError and what the sign-in raises."""
        task = self._known(id)
        try:
            return await asyncio.shield(task)
        finally:
            if task.done() and id in self._running:
                await self._drop(id)

    def paste(self, id: str, text: str) -> None:
        """Pass on a pasted final address. Raises UsageError."""
        self._known(id)
        if not self._carried[id].full():
            self._carried[id].put_nowait(text)

    async def close(self) -> None:
        running, self._running, self._carried = self._running, {}, {}
        await end_tasks(*running.values())

    def _known(self, id: str) -> asyncio.Task[Any]:
        if id not in self._running:
            raise UsageError("This sign-in has ended.", "Start it again.")
        return self._running[id]

    async def _drop(self, id: str) -> None:
        self._carried.pop(id)
        await end_tasks(self._running.pop(id))


async def _as_coroutine(run: Run, show: Show, pasted: Pasted) -> Any:
    return await run(show, pasted)
