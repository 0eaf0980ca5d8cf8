"""Run something for every open task, from when it opens until it closes."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from halocline.protocol.waiting import end_tasks
from halocline.surfaces.web.open_tasks import OpenTasks


class TaskFollowers:
    """Calls `follow` with each task that opens, and cancels it at the end."""

    def __init__(self, tasks: OpenTasks, follow: Callable[[str], Awaitable[None]]) -> None:
        self._tasks = tasks
        self._follow = follow
        self._following: dict[str, asyncio.Future[None]] = {}
        self._looking = asyncio.create_task(self._look_for_tasks(), name="open tasks of the editor")

    async def close(self) -> None:
        await end_tasks(self._looking, *self._following.values())

    async def _look_for_tasks(self) -> None:
        changed = asyncio.Event()
        self._tasks.subscribe(changed)
        try:
            while True:
                for task in self._tasks.standing():
                    if task not in self._following:
                        self._following[task] = asyncio.ensure_future(self._follow(task))
                        self._following[task].add_done_callback(partial(self._forget, task))
                await changed.wait()
                changed.clear()
        finally:
            self._tasks.unsubscribe(changed)

    def _forget(self, task: str, _: asyncio.Future[None]) -> None:
        self._following.pop(task, None)
