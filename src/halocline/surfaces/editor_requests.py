"""Requests about files to an editor that may be late. What fails is no error: the disk is used."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

PATIENCE = 4.0
"""Seconds until an editor counts as late."""
PAUSE = 60.0
"""Seconds in which a late editor is not asked again."""
_LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class FileRequests:
    """Asks one editor. `failures` are the errors with which it refuses."""

    def __init__(self, *failures: type[Exception], patience: float = PATIENCE) -> None:
        self._failures = failures
        self._patience = patience
        self._paused_until = 0.0

    async def ask(self, request: Coroutine[Any, Any, T], path: str, wait: float = 0.0) -> T | None:
        """Return the answer about a file, for which the editor itself may `wait`; None if it fails or is late.

        One that was late is not asked for a while.
        """
        if time.monotonic() < self._paused_until:
            request.close()
            return None
        try:
            async with asyncio.timeout(self._patience + wait):
                return await request
        except TimeoutError:
            self._paused_until = time.monotonic() + PAUSE
            _LOGGER.warning("The editor did not answer about %s in %g s.", path, self._patience + wait)
        except self._failures as error:
            _LOGGER.info("The editor did not answer about %s: %s", path, error)
        return None
