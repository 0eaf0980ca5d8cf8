"""Waits for a person that end early: by a signal, or because another client was faster."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from halocline.client.tasks import Client
from halocline.protocol import events as ev

T = TypeVar("T")


class PersonWait:
    """Waits for the person of one task. `is_outrun`: the last wait ended without an answer."""

    def __init__(self, client: Client, task: str) -> None:
        self._client = client
        self._task = task
        self._asking: asyncio.Task[object] | None = None
        self.is_outrun = False

    async def wait_for(
        self,
        asking: Coroutine[None, None, T],
        after: int = 0,
        settles: Callable[[ev.Event], bool] | None = None,
        show: Callable[[ev.Event], None] | None = None,
    ) -> T | None:
        """Wait for an answer; None when a signal came first, or an event after `after` that settles it.

        Until then, `show` gets what happens beside the question, up to the next one.
        """
        waiting = self._asking = asyncio.create_task(asking)
        watching = asyncio.create_task(self._watch(after, settles, show)) if settles else None
        try:
            await asyncio.wait([waiting, *([watching] if watching else [])], return_when=asyncio.FIRST_COMPLETED)
            self.is_outrun = not waiting.done()
            waiting.cancel()
            await asyncio.wait([waiting])
            return None if waiting.cancelled() else waiting.result()
        finally:
            waiting.cancel()
            if watching:
                watching.cancel()
            self._asking = None

    def cancel(self) -> None:
        """End the wait, if there is one."""
        if self._asking is not None:
            self._asking.cancel()

    async def _watch(
        self, after: int, settles: Callable[[ev.Event], bool], show: Callable[[ev.Event], None] | None
    ) -> None:
        """Wait for a matching event, or until the events end."""
        async for event in self._client.events(self._task, after):
            if settles(event):
                return
            show = None if isinstance(event, ev.ApprovalRequested | ev.QuestionAsked) else show
            if show and isinstance(event, ev.Durable):
                show(event)


def begins_turn(event: ev.Event) -> bool:
    return isinstance(event, ev.TurnStarted | ev.TurnResumed)


def decides_request(request: str, event: ev.Event) -> bool:
    return _asks_no_more(event) or (isinstance(event, ev.ApprovalResolved) and event.request == request)


def answers_request(request: str, event: ev.Event) -> bool:
    return _asks_no_more(event) or (isinstance(event, ev.QuestionAnswered) and event.request == request)


def _asks_no_more(event: ev.Event) -> bool:
    """True if the question is void: the turn is over, or another process resumed it and asks again."""
    return isinstance(event, ev.TurnEnded | ev.TurnResumed)
