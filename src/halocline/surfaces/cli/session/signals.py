"""Signals that end a conversation: Ctrl-C, and those of a closing terminal or system."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handle_signals(handle: Callable[[int], None], afterwards: Callable[[int], None] | None = None) -> Iterator[None]:
    """Call `handle` with the number of each signal, in the event loop. Without `afterwards`, signals then end it."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, handle, number)
    try:
        yield
    finally:
        for number in SIGNALS:
            if afterwards:
                loop.add_signal_handler(number, afterwards, number)
            else:
                loop.remove_signal_handler(number)
