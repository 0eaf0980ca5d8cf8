"""An event loop that runs the tasks that are ready in a random order; what depends on their order shows."""

import asyncio
import inspect
import random
from collections.abc import Coroutine
from typing import Any


class ShuffledLoop(asyncio.SelectorEventLoop):
    """Shuffles by a seed which of the tasks goes on first.

    What asyncio promises stays: callbacks of transports keep their order, and tasks begin in the order of their making.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)
        self.shuffles = 0
        self.set_task_factory(_make_task)

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[has-type]
        places = [at for at, handle in enumerate(list(ready)) if _goes_on(handle)]  # threads may add to it meanwhile
        if len(places) > 1:
            order = self._chance.sample(places, len(places))
            self.shuffles += order != places
            for at, handle in zip(places, [ready[other] for other in order], strict=True):
                ready[at] = handle
        super()._run_once()  # type: ignore[misc]


def _make_task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **named: Any) -> "asyncio.Task[Any]":
    """Make a task in Python: the handles of those in C do not say whose they are."""
    return asyncio.tasks._PyTask(work, loop=loop, **named)  # type: ignore[attr-defined, no-any-return]


def _goes_on(handle: asyncio.Handle) -> bool:
    """True for a step of a task that has begun."""
    task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
    if not isinstance(task, asyncio.tasks._PyTask):  # type: ignore[attr-defined]
        return False
    work = task.get_coro()
    return inspect.iscoroutine(work) and inspect.getcoroutinestate(work) != inspect.CORO_CREATED
