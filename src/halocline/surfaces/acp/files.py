"""Files that an editor has open, asked for over the protocol. An editor that fails or is late is no error: `None`."""

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import TypeVar

from acp import RequestError, schema
from acp.interfaces import Client as Connection

PATIENCE = 4.0
"""Seconds until an editor counts as late."""
PAUSE = 60.0
"""Seconds in which a late editor is not asked again."""
_LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class OpenFiles:
    """Implements `ports.editor.Editor` for one session, as far as the client offers it. `session` names it."""

    def __init__(
        self,
        connection: Connection,
        abilities: schema.ClientCapabilities,
        session: str = "",
        patience: float = PATIENCE,
    ) -> None:
        offered = abilities.fs
        self._reads = bool(offered and offered.read_text_file)
        self._writes = bool(offered and offered.write_text_file)
        self._connection = connection
        self._patience = patience
        self._paused_until = 0.0
        self.session = session

    async def read(self, path: str) -> str | None:
        if not self._reads or self._is_silent:
            return None
        found = await self._ask(self._connection.read_text_file(session_id=self.session, path=path), path)
        return found.content if found else None

    async def write(self, path: str, text: str) -> bool:
        if not self._writes or self._is_silent:
            return False

        async def write_and_confirm() -> bool:
            await self._connection.write_text_file(session_id=self.session, path=path, content=text)
            return True

        return bool(await self._ask(write_and_confirm(), path))

    @property
    def _is_silent(self) -> bool:
        return not self.session or time.monotonic() < self._paused_until

    async def _ask(self, request: Awaitable[T], path: str) -> T | None:
        try:
            async with asyncio.timeout(self._patience):
                return await request
        except TimeoutError:
            self._paused_until = time.monotonic() + PAUSE
            _LOGGER.warning("The editor did not answer about %s in %g s.", path, self._patience)
        except (RequestError, ValueError, OSError) as error:
            _LOGGER.info("The editor did not answer about %s: %s", path, error)
        return None
