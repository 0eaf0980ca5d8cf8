"""Runs coroutines for surfaces; at the end it waits for threads, but not for ever.

A thread that hangs in the system (a dead disk, a lock that nobody gives back) can be neither ended nor joined. What it
was to do is not done; everything that was said to be done is in the log and synced.
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

T = TypeVar("T")
_log = logging.getLogger("halocline")
PATIENCE = 3.0
"""Seconds for threads to come to their ends."""
_NAME = "halo-thread"


class _Threads(ThreadPoolExecutor):
    """The threads of a loop."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        deadline = time.monotonic() + PATIENCE
        for thread in _still_running() if wait else ():
            thread.join(max(0.0, deadline - time.monotonic()))


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """The same as `asyncio.run`."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_default_executor(_Threads(thread_name_prefix=_NAME))
        loop.set_exception_handler(_log_unretrieved)
        return runner.run(main)


def _log_unretrieved(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Return what nobody waited for any more goes to the program's log, as long as there is one, and to no screen."""
    if _log.hasHandlers():
        _log.error("in the background: %s", context.get("message"), exc_info=context.get("exception"))


def leave_at_once(code: int) -> None:
    """End the process where a thread hangs, which Python would wait for; else nothing happens."""
    if any(_still_running()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _still_running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(_NAME)]
