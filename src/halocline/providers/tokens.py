"""Tokens in place of a key: they expire, and this renews them before they do, for every vendor.

What must stay true: a token goes into a request and nowhere else.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from msgspec import structs

from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value

_LEAD = 60.0
"""Seconds before its end at which a token is replaced."""


class Token(Value, frozen=True):
    """A token, and the Unix time of its end: a machine that slept notices that it has passed."""

    value: Secret
    expires_at: float


def is_current(expires_at: float) -> bool:
    """True if a token is valid now and for a moment longer."""
    return time.time() < expires_at - _LEAD


class Tokens:
    """The tokens of one sign-in; `fetch` gets a new one and may raise ModelError."""

    def __init__(self, fetch: Callable[[], Awaitable[Token]]) -> None:
        self._fetch = fetch
        self._token: Token | None = None
        self._fetching = asyncio.Lock()

    async def get_current(self) -> str:
        """Return a token that is valid now; requests that need a new one at the same time share it."""
        async with self._fetching:
            if self._token is None or not is_current(self._token.expires_at):
                self._token = await self._fetch()
        return self._token.value.reveal()

    def drop(self) -> None:
        """Fetch a token again for the next request, as the server refused this one."""
        if self._token:
            self._token = structs.replace(self._token, expires_at=0.0)

    @property
    def last(self) -> str:
        """The token that requests carried last, to redact it from what servers answer; empty before the first."""
        return self._token.value.reveal() if self._token else ""
