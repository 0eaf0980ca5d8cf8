"""An event loop in which waiting takes no time: the clock jumps to the next timer once there is nothing else to do.

While threads work, it stands still. `begin` must be called before the program's modules are loaded, in a process of its
own: it replaces `time.monotonic`.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

STEP = 0.01
"""Most seconds that pass at once, so that what comes from outside is not overtaken by much."""
PATIENCE = 0.001
"""Real seconds to wait for a thread."""


class VirtualClock:
    """Seconds since the start, as `time.monotonic` returns them."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class _Selector(selectors.DefaultSelector):
    def __init__(self, clock: VirtualClock, is_busy: Callable[[], bool]) -> None:
        super().__init__()
        self._clock = clock
        self._is_busy = is_busy

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self._is_busy():
            return super().select(PATIENCE)
        self._clock.now += min(max(timeout, 0.0), STEP) + 1e-9
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop on a virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self._working = 0
        super().__init__(_Selector(clock, lambda: self._working > 0))

    def run_in_executor(self, executor: Any, function: Any, *arguments: Any) -> Any:
        self._working += 1
        done = super().run_in_executor(executor, function, *arguments)
        done.add_done_callback(self._note_end)
        return done

    def _note_end(self, done: object) -> None:
        self._working -= 1


def begin() -> VirtualClock:
    """Let `time.monotonic` return virtual seconds from now on."""
    clock = VirtualClock()
    time.monotonic = clock
    return clock
