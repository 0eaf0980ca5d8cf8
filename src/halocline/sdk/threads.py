"""Functions of the program in threads, and whose cancellation an error is.

What must stay true: a function that never returns keeps neither the loop nor the program from ending.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
POLL = 0.1
"""Seconds between two looks whether the caller of a loop in a thread was cancelled."""


class Stopped(Exception):
    """A function raised what would end more than its call: StopIteration, or no Exception. This is caused by that."""


def run_on_own_loop(function: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what a coroutine returns on a loop in a thread of its own, as the caller's loop runs already.

    What interrupts the caller (Ctrl-C, its cancellation) cancels the coroutine and is raised once that has ended; a
    second one is raised at once.
    """
    caller, ended = asyncio.current_task(), futures.Future[T]()
    running: futures.Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = futures.Future()

    async def follow() -> T:
        running.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await function()

    def work() -> None:
        try:
            ended.set_result(asyncio.run(follow()))
        except BaseException as error:  # the caller raises it
            ended.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="halocline run", daemon=True).start()
    try:
        while not futures.wait((ended,), POLL).done:
            if caller and caller.cancelling():
                raise asyncio.CancelledError
    except BaseException:
        loop, task = running.result()
        if task:
            with suppress(RuntimeError):  # it has ended just now
                loop.call_soon_threadsafe(task.cancel)
        futures.wait((ended,))
        raise
    return ended.result()


async def call_in_thread(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a thread of its own; the program's exit does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = context.run(function), None
        except BaseException as error:  # the caller raises it
            outcome = None, error
        with suppress(RuntimeError):  # the loop has closed, and with it the call
            loop.call_soon_threadsafe(_settle, done, outcome)

    threading.Thread(target=work, name="halocline tool", daemon=True).start()
    value, error = await done
    if isinstance(error, StopIteration) or not isinstance(error, Exception | None):
        raise Stopped from error
    if error:
        raise error
    return value


def ends_task(error: BaseException) -> bool:
    """True if the running task itself was cancelled, and not something that it waited for, or is closed or stopped."""
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return True
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _settle(done: asyncio.Future[Any], outcome: Any) -> None:
    if not done.done():
        done.set_result(outcome)
