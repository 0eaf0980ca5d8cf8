"""Routing of a server's questions: the calls it is running, and the questions it asked during them.

What must stay true: a server's question reaches only the task whose call it is running. While calls of several tasks
run, its owner is unknown: the question is dropped, and from then on tasks take turns at that server.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar

from halocline.ports.mcp import Caller
from halocline.protocol.waiting import end_tasks

Answer = TypeVar("Answer")


class Serving:
    """One running call. Its timeout pauses while a person answers, and restarts with each progress report."""

    def __init__(self, caller: Caller, limit: float, deadline: asyncio.Timeout) -> None:
        self.caller = caller
        self._limit = limit
        self._deadline = deadline
        self._asking: set[asyncio.Future[Any]] = set()
        self._held = 0

    @contextmanager
    def pause_timeout(self) -> Iterator[None]:
        """Pause the call's timeout for the duration of the context."""
        self._held += 1
        self.restart_timeout()
        try:
            yield
        finally:
            self._held -= 1
            self.restart_timeout()

    def restart_timeout(self) -> None:
        """Restart the call's timeout."""
        if not self._deadline.expired():
            until = None if self._held else asyncio.get_running_loop().time() + self._limit
            self._deadline.reschedule(until)

    async def asks(self, question: Callable[[Caller], Awaitable[Answer]]) -> Answer | None:
        """Ask and return the answer; None when the call ended first."""
        asking = asyncio.ensure_future(question(self.caller))
        self._asking.add(asking)
        try:
            with self.pause_timeout():
                await asyncio.wait([asking])
        finally:  # the server may have withdrawn the question
            self._asking.discard(asking)
            await end_tasks(asking)
        return None if asking.cancelled() else asking.result()

    async def over(self) -> None:
        """Cancel the open questions: the call has ended."""
        await end_tasks(*self._asking)


class Callers:
    """The running calls of one connection."""

    def __init__(self) -> None:
        self._at: list[Serving] = []
        self._in_turn = False
        self._left = asyncio.Event()

    @asynccontextmanager
    async def serving(self, caller: Caller, limit: float) -> AsyncGenerator[Serving, None]:
        """Register a call for the context. Raises TimeoutError after `limit` seconds without progress."""
        while self._in_turn and any(each.caller.task != caller.task for each in self._at):
            self._left.clear()
            await self._left.wait()
        async with asyncio.timeout(limit) as deadline:
            serving = Serving(caller, limit, deadline)
            self._at.append(serving)
            try:
                yield serving
            finally:
                self._at.remove(serving)
                self._left.set()
                await serving.over()

    async def ask(self, question: Callable[[Caller], Awaitable[Answer]]) -> Answer | None:
        """Ask the task whose call the server is running; None when no task or several tasks have one."""
        tasks = {each.caller.task for each in self._at}
        if len(tasks) != 1:
            self._in_turn = self._in_turn or bool(tasks)
            return None
        with ExitStack() as stack:
            for each in self._at:  # any of them may be waiting for the answer
                stack.enter_context(each.pause_timeout())
            return await self._at[-1].asks(question)
