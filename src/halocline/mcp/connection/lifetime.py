"""The end of one connection: every part that notices it marks it here, with the reason if it knows one."""

import asyncio

from halocline.protocol.waiting import wait_at_most

_EXPLANATION_PATIENCE = 0.5


class Lifetime:
    """`gone` is set when the connection ends; `answered` is true once the server has answered anything."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.answered = False
        self.fault = ""
        self._explained = asyncio.Event()

    def end(self, why: str = "") -> None:
        """Mark the connection as ended. The first reason counts and may come a moment later."""
        self.fault = self.fault or why
        if self.fault:
            self._explained.set()
        self.gone.set()

    async def wait_for_reason(self, otherwise: str) -> str:
        """Return why it ended; the program's exit may be seen a moment after the end of its output."""
        await wait_at_most(_EXPLANATION_PATIENCE, self._explained.wait())
        return self.fault or otherwise
