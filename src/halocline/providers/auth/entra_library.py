"""Microsoft's library for Entra ID, over our own HTTP client: proxies, certificates and timeouts are those of models.

Importing this takes half a second, so `entra` does it in a thread.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from azure.core.pipeline.transport import HttpRequest, HttpResponse, HttpTransport
from azure.core.utils import case_insensitive_dict
from azure.identity import DefaultAzureCredential
from msgspec.structs import replace

from halocline.net.http import fetch
from halocline.net.network import Network
from halocline.protocol.errors import ModelError

_LARGEST = 1_000_000
_PATIENCE = 20.0
"""Seconds to wait for a response."""


class Credential:
    """The account that is signed in: by variables, a workload's or a managed identity, or the tools of developers.

    `unreachable` is the error of the last sign-in, if the server that gives tokens could not be reached.
    """

    def __init__(self, choose_network: Callable[[str], Network], loop: asyncio.AbstractEventLoop) -> None:
        """Raise the library's error for variables that it does not accept."""
        # Without a handler, Python prints the library's warnings onto the person's screen.
        for name in ("azure", "msal"):
            logging.getLogger(name).addHandler(logging.NullHandler())
        self._transport = _Transport(choose_network, loop)
        # Of a cloud that the person named, only its own server is asked who it is.
        own = {"disable_instance_discovery": True} if os.environ.get("AZURE_AUTHORITY_HOST") else {}
        self._credential = DefaultAzureCredential(transport=self._transport, retry_total=1, **own)

    @property
    def unreachable(self) -> ModelError | None:
        return self._transport.unreachable

    def ask(self, scope: str) -> tuple[str, float]:
        """Return a token, and the Unix time of its end. Raises the library's errors, and ModelError."""
        self._transport.unreachable = None
        token = self._credential.get_token(scope)
        return token.token, float(token.expires_on)


class _Transport(HttpTransport[HttpRequest, HttpResponse]):
    """Sends the library's requests, which come from another thread, in the loop of the program."""

    def __init__(self, choose_network: Callable[[str], Network], loop: asyncio.AbstractEventLoop) -> None:
        self._choose_network = choose_network
        self._loop = loop
        self.unreachable: ModelError | None = None

    def send(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Send a request. Raises ModelError."""
        patience = float(kwargs.get("connection_timeout") or _PATIENCE)
        return asyncio.run_coroutine_threadsafe(self._send(request, patience), self._loop).result()

    async def _send(self, request: HttpRequest, patience: float) -> HttpResponse:
        url = urlsplit(request.url)
        # The services of a machine's own identity speak HTTP, at addresses that no proxy reaches.
        network = self._choose_network(request.url) if url.scheme == "https" else Network()
        connect = min(network.connect_timeout, patience)
        waits = replace(network, connect_timeout=connect, first_byte_timeout=_PATIENCE, stall_timeout=_PATIENCE)
        body = None if request.method == "GET" else _encode_body(request.data)
        try:
            return _Answer(request, *await fetch(request.url, waits, request.headers, body, most=_LARGEST))
        except ModelError as error:
            if url.scheme == "https":
                self.unreachable = error
            raise

    def open(self) -> None:
        """Nothing is open between two requests."""

    def close(self) -> None:
        """Nothing is open between two requests."""

    def __exit__(self, *_: object) -> None:
        """Nothing is open between two requests."""


class _Answer(HttpResponse):
    """A whole response, in the library's form."""

    def __init__(self, request: HttpRequest, status: int, headers: Any, body: bytes) -> None:
        super().__init__(request, None)
        self.status_code = status
        self.headers = case_insensitive_dict(headers)
        self.reason = ""
        self.content_type = self.headers.get("content-type", "")
        self._body = body

    def body(self) -> bytes:
        """Return the body."""
        return self._body


def _encode_body(data: Any) -> bytes:
    if isinstance(data, dict):
        return urlencode(data).encode()
    return data.encode() if isinstance(data, str) else data or b""
