"""A task that this process writes, from its opening to its end."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from halocline.protocol.commands import AnyCommand
from halocline.protocol.events import Mode, Noticed
from halocline.task.log import Log
from halocline.task.task import Task

DOOR_AFTER = 0.1
"""Seconds after which others can join a task that was opened: its first request is off by then."""


@dataclass(slots=True)
class OpenTask:
    """A task, the coroutine that serves it, the model's name in each mode, and what was odd when it began."""

    task: Task
    serving: asyncio.Task[None]
    models: Mapping[Mode, str]
    door: asyncio.Task[None]
    remarks: tuple[str, ...] = ()

    async def close(self) -> None:
        """Let go of what is no longer served: the door first, so that the next writer's is not closed."""
        self.door.cancel()
        await asyncio.wait([self.door])
        await self.task.close()


async def mended_then_run(task: Task) -> None:
    """Nothing of the task runs before what a killed process left half done was put back."""
    for said in await task.machine.files.mend():
        task.emit(Noticed(said))
    await task.run()


async def kept_open(task: Task, send: Callable[[AnyCommand], bool]) -> None:
    """Let others join until this is cancelled. Where no socket can be made nobody can; the log is there."""
    await asyncio.sleep(DOOR_AFTER)
    from halocline.controller.door import Door

    with suppress(OSError):
        async with Door(task, send):
            await asyncio.Event().wait()


@contextmanager
def given_back_on_failure(log: Log) -> Iterator[Log]:
    """A log that nobody serves yet: its lock does not outlive a failure."""
    try:
        yield log
    except BaseException:
        log.close()
        raise
