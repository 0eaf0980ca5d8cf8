"""Browser sign-in: the page to open, the callback to wait for, the key at the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from hmac import compare_digest
from typing import Protocol, Self
from urllib.parse import urlsplit

from halocline import providers
from halocline.hosts.web.oauth_callback import Loopback
from halocline.net.address import address_of
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.waiting import end_tasks
from halocline.providers.endpoint import Endpoint

LIMIT = 300.0
"""Seconds to wait for a person to sign in."""

Pasted = Callable[[], Awaitable[str | None]]
"""Returns the next line that the person typed; None when no more come."""


class Exchange(Protocol):
    """A sign-in at one kind of server. The browser must bring `state` back."""

    state: str

    async def find_page(self, callback: str) -> str:
        """Return the page to open in the browser. Raises ModelError."""

    async def key_for(self, code: str) -> Secret:
        """Exchange the code that the browser brought for what is stored as the key. Raises ModelError."""


class SignIn:
    """One sign-in in progress. `url` is the page to open in a browser, on this machine or another."""

    def __init__(self, exchange: Exchange, loopback: Loopback, url: str) -> None:
        self._exchange = exchange
        self._loopback = loopback
        self.url = url

    @classmethod
    @asynccontextmanager
    async def start(cls, at: Endpoint) -> AsyncIterator[Self]:
        """Start a sign-in; its callback page is open as long as this context. Raises ModelError and UsageError."""
        oidc = at.vendor.sign_in
        exchange = providers.auth.oidc.Exchange(at, oidc) if oidc else providers.auth.openrouter.Exchange(at)
        async with _build_loopback(oidc.callback if oidc else "") as loopback:
            yield cls(exchange, loopback, await exchange.find_page(loopback.url))

    async def key(self, pasted: Pasted, limit: float = LIMIT) -> Secret:
        """Wait for the browser, or for a person to paste the address or its code.

        Raises:
            ModelError: no one signed in within `limit` seconds, or the server issued no key.
            UsageError: the pasted text belongs to no sign-in, or to another one.
        """
        try:
            async with asyncio.timeout(limit):
                code = await self._code(pasted)
        except TimeoutError:
            text = f"Sign-in timed out after {limit / 60:g} minutes."
            raise ModelError(ModelErrorKind.AUTH, text, "Start again, or paste a key: --with-key") from None
        return await self._exchange.key_for(code)

    async def _code(self, pasted: Pasted) -> str:
        visit = asyncio.ensure_future(self._loopback.wait_for_redirect())
        typing = asyncio.ensure_future(self._read_pasted(pasted))
        try:
            done, _ = await asyncio.wait({visit, typing}, return_when=asyncio.FIRST_COMPLETED)
            return self._code_of(await visit) if visit in done else await typing
        finally:
            await end_tasks(visit, typing)

    async def _read_pasted(self, pasted: Pasted) -> str:
        while (line := await pasted()) is not None:
            if line.strip():
                return self._code_in_line(line.strip())
        await asyncio.Event().wait()  # no more input: only the browser can finish it
        raise AssertionError("an event that nobody sets")

    def _code_in_line(self, line: str) -> str:
        """Return the code from a pasted line: the address the browser was sent to, or the code alone."""
        if "://" not in line:
            return line.removeprefix("code=")
        query = self._loopback.query_of(line)
        if query is None:
            text = "That address belongs to another sign-in."
            raise UsageError(text, "Paste the full address of the page that the browser could not open.")
        return self._code_of(query)

    def _code_of(self, query: Mapping[str, str]) -> str:
        if not compare_digest(query.get("state", "").encode(), self._exchange.state.encode()):
            raise UsageError("The browser came back from another sign-in.", "Start again, in one window alone.")
        if code := query.get("code"):
            return code
        reason = query.get("error_description") or query.get("error") or "it was canceled"
        raise UsageError(f"The sign-in failed: {reason[:200]}.", "Start again, or paste a key: --with-key")


def _build_loopback(callback: str) -> Loopback:
    """Return the page that the browser comes back to, at the address that the server knows, if it does."""
    if not callback:
        return Loopback()
    address, path = address_of(callback), urlsplit(callback).path
    if address is None or not address.is_loopback or address.tls or not path:
        hint = "Write it as http://localhost:PORT/PATH."
        raise UsageError(f"The callback {callback!r} is not an address on this machine.", hint)
    return Loopback(address.port, path)
