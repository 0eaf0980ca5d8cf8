"""Keeps up a store in the background, and all stores within their quota. What fails is left for the next task."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints import repository
from halocline.checkpoints.repository.upkeep import Upkeep
from halocline.checkpoints.store.git import Runner
from halocline.protocol.errors import HaloclineError

_SECONDS = 20.0
"""Longest time to free space."""


class BackgroundUpkeep:
    """Upkeep of one store starts after `idle` seconds without a request, once per task, unless checkpoints are off.

    All stores in `folder` may take `quota` bytes; checkpoints of `task` are never deleted for it, and `notify` gets a
    message about those that were.
    """

    def __init__(
        self,
        upkeep: Upkeep,
        folder: Path,
        task: str,
        *,
        idle: float,
        quota: int | None,
        is_off: Callable[[], bool],
        notify: Callable[[str], None],
    ) -> None:
        self._upkeep = upkeep
        self._folder = folder
        self._task = task
        self._idle = idle
        self._quota = quota
        self._is_off = is_off
        self._notify = notify
        self._freeing = Runner()
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None
        self._copying: asyncio.Task[None] | None = None

    async def stand_alone(self, seconds: float) -> None:
        """Copy borrowed objects and wait at most `seconds`; the copying continues after that."""
        if self._is_off() or not self._upkeep.is_borrowing:
            return
        if self._copying is None or self._copying.done():
            self._copying = asyncio.create_task(self._copy())
        await asyncio.wait([self._copying], timeout=seconds)

    def plan(self) -> None:
        """Schedule upkeep for when there were no requests for a while."""
        if self._timer is not None:
            self._timer.cancel()
        if self._running is None and not self._is_off():
            self._timer = asyncio.get_running_loop().call_later(self._idle, self._begin)

    def stop(self) -> None:
        """Stop what runs."""
        self._upkeep.stop()
        self._freeing.stop()

    async def end(self) -> None:
        """Wait for what runs, which must have been stopped; nothing begins after this."""
        self._is_off = lambda: True
        if self._copying is not None:
            await self._copying
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None and not self._running.done():
            await self._running

    async def _copy(self) -> None:
        with suppress(HaloclineError, OSError):  # the next user of the store tries again
            await asyncio.to_thread(self._upkeep.stand_alone)

    def _begin(self) -> None:
        if self._running is None and not self._is_off():
            self._running = asyncio.create_task(self._keep_up())

    async def _keep_up(self) -> None:
        # The next task tries again what fails now. Stopping the upkeep ends the git that the thread waits for.
        with suppress(HaloclineError, OSError):
            await asyncio.to_thread(self._upkeep.keep_up)
        if self._quota is not None and not self._is_off():
            await self._keep_within(self._quota)

    async def _keep_within(self, quota: int) -> None:
        with suppress(HaloclineError, OSError):
            lost = await asyncio.to_thread(
                repository.stores.keep_within, self._folder, quota, self._task, _SECONDS, self._freeing
            )
            if lost:
                whose = "the oldest task" if lost == 1 else f"the {lost} oldest tasks"
                self._notify(f"Checkpoints took more than {quota / 1e6:,.0f} MB: those of {whose} were deleted.")
