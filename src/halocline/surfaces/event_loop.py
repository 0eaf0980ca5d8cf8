"""Runs coroutines for surfaces; at the end it waits for threads, for a bounded time.

A thread that hangs in the system (a dead disk, a lock never released) can be neither ended nor joined. Its work is
lost, but everything reported as done is in the log and synced.
"""

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from halocline.protocol.waiting import end_tasks

T = TypeVar("T")
_log = logging.getLogger("halocline")
PATIENCE = 3.0
"""Seconds that threads get to finish."""
_NAME = "halo-thread"


class _Threads(ThreadPoolExecutor):
    """The thread pool of a loop."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        deadline = time.monotonic() + PATIENCE
        for thread in _still_running() if wait else ():
            thread.join(max(0.0, deadline - time.monotonic()))


def run_loop(main: Coroutine[Any, Any, T], threads: int | None = None) -> T:
    """Run like `asyncio.run`, with a bounded wait for threads; `threads` are the most, where many tasks run."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_default_executor(_Threads(threads, thread_name_prefix=_NAME))
        loop.set_exception_handler(_log_unretrieved)
        return runner.run(_run_to_end(main))


async def _run_to_end(main: Coroutine[Any, Any, T]) -> T:
    """Run it, then end surely what it left: the runner would cancel that once."""
    try:
        return await main
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for end in await end_tasks(*left):
            if isinstance(end, Exception):
                _log.error("left at the end: %s", end, exc_info=end)


def _log_unretrieved(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Send errors that no one awaited to the program's log, if it has one, and not to the screen."""
    if _log.hasHandlers():
        _log.error("in the background: %s", context.get("message"), exc_info=context.get("exception"))


def leave_at_once(code: int) -> None:
    """End the process if a thread hangs, as Python would wait for it; otherwise do nothing."""
    if any(_still_running()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _still_running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(_NAME)]
