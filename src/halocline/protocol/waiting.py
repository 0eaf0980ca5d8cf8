"""Waits for what nothing announces: asked again and again, and over when the clock says so. And for the end of several.

What must stay true: a slow answer makes no wait longer, and no wait is counted in its turns. A task that is cancelled
here has ended afterwards, whatever it made of the cancellation. `asyncio.wait_for` is not used: until Python 3.12 it
loses a cancellation that comes together with the result.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

AGAIN = 6.0
"""Seconds until a task is cancelled again; longer than most graces of what tasks clean up."""


async def wait_at_most(seconds: float, work: Awaitable[object]) -> bool:
    """Wait for this, which is cancelled when the time is over. False if it was."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await work
    except TimeoutError:
        if not limit.expired():
            raise
    return not limit.expired()


async def wait_until(is_so: Callable[[], Awaitable[bool]], seconds: float, pause: float) -> bool:
    """Ask at least once, and again after each pause, until it is so. False once `seconds` have passed.

    An answer that is still awaited then is cancelled.
    """

    async def ask_again() -> None:
        while True:
            if await is_so():
                return
            await asyncio.sleep(pause)

    return await wait_at_most(seconds, ask_again())


async def end_all(*works: Awaitable[None]) -> None:
    """Wait until all of these have ended, also if one fails; then raise the first error."""
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if outcome is not None:
            raise outcome


async def end_tasks(*tasks: "asyncio.Future[Any] | None", again: float = AGAIN) -> list[Any]:
    """Cancel these until all have ended; return what each returned or raised, and raise none of it.

    Once is not enough: a task may lose a cancellation and continue, by a library's fault or with an error of its
    cleanup. Meanwhile it may clean up, for `again` seconds undisturbed. If the caller is cancelled, the tasks are
    cancelled again at once, three times (two may end each other), and CancelledError is raised when all have ended.
    """
    given = [task for task in tasks if task is not None]
    assert asyncio.current_task() not in given, "a task cannot wait for its own end"
    cancelled: asyncio.CancelledError | None = None
    is_due, times = True, 0
    while running := [task for task in given if not task.done()]:
        for task in running if is_due else ():
            task.cancel()
        try:
            await asyncio.wait(running, timeout=again)
            is_due = True
        except asyncio.CancelledError as error:
            times, cancelled = times + 1, error
            is_due = times <= 3
    ends = await asyncio.gather(*given, return_exceptions=True)
    if cancelled is not None:
        raise cancelled
    return ends
