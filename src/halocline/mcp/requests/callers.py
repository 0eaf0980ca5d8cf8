"""Whom a server may turn to: the calls that it is at, and the questions that it has put while it is at them.

What must stay true: a server's question reaches the task whose call it is at, and nobody else. Where calls of several
tasks run at once nobody can tell whose it is: it is not asked, and from then on tasks take turns at that server.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar

from halocline.ports.mcp import Caller

Answer = TypeVar("Answer")


class Serving:
    """One call under way. Its time stands still while a person thinks, and begins anew with each sign of life."""

    def __init__(self, caller: Caller, limit: float, deadline: asyncio.Timeout) -> None:
        self.caller = caller
        self._limit = limit
        self._deadline = deadline
        self._asking: set[asyncio.Future[Any]] = set()
        self._held = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let the time of the call stand still, as long as this context."""
        self._held += 1
        self.lives()
        try:
            yield
        finally:
            self._held -= 1
            self.lives()

    def lives(self) -> None:
        """Give the call its time anew."""
        if not self._deadline.expired():
            until = None if self._held else asyncio.get_running_loop().time() + self._limit
            self._deadline.reschedule(until)

    async def asks(self, question: Callable[[Caller], Awaitable[Answer]]) -> Answer | None:
        """The answer; None when the call ended before there was one."""
        asking = asyncio.ensure_future(question(self.caller))
        self._asking.add(asking)
        try:
            with self.held():
                await asyncio.wait([asking])
        finally:  # who asked may have taken it back
            asking.cancel()
            self._asking.discard(asking)
            if not asking.done():
                await asyncio.wait([asking])
        return None if asking.cancelled() else asking.result()

    async def over(self) -> None:
        """The call is over: nobody wants to know any more."""
        if asking := [*self._asking]:
            for each in asking:
                each.cancel()
            await asyncio.wait(asking)


class Callers:
    """The calls that one connection is at."""

    def __init__(self) -> None:
        self._at: list[Serving] = []
        self._in_turn = False
        self._left = asyncio.Event()

    @asynccontextmanager
    async def serving(self, caller: Caller, limit: float) -> AsyncGenerator[Serving, None]:
        """A call, as long as this context, and no longer than `limit` seconds without a sign. Raises TimeoutError."""
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
        """Put a question to the task whose call the server is at; None where there is none, or more than one."""
        tasks = {each.caller.task for each in self._at}
        if len(tasks) != 1:
            self._in_turn = self._in_turn or bool(tasks)
            return None
        with ExitStack() as stack:
            for each in self._at:  # any of them may be the one that waits for the answer
                stack.enter_context(each.held())
            return await self._at[-1].asks(question)
