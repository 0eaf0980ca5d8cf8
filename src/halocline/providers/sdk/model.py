"""Vendors that our own API families do not cover, reached through pydantic-ai and the vendors' SDKs.

The library is an extra and takes a second or more to import: this module only checks that it is installed, and the
first request imports it in a thread, so that nothing else waits.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from halocline.installation import extra_command
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from halocline.providers.sdk.http import LibraryExchange


class Library:
    """A model behind the library. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        """Raise UsageError when the library or the vendor's SDK is not installed."""
        if missing := missing_of(endpoint.vendor.packages):
            text = f"{endpoint.vendor.title} needs packages that are not installed: {', '.join(missing)}."
            raise UsageError(text, f"Run: {extra_command('providers')}")
        self._endpoint = endpoint
        self.name = endpoint.name
        self._blobs = blobs
        self._opened: LibraryExchange | None = None
        self._opening = asyncio.Lock()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        exchange = await self._exchange()
        async with aclosing(exchange.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _exchange(self) -> "LibraryExchange":
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return self._opened

    def _open(self) -> "LibraryExchange":
        try:
            from halocline.providers.sdk.http import LibraryExchange

            return LibraryExchange(self._endpoint, self._blobs)
        except ImportError as error:
            text = f"The packages for {self._endpoint.vendor.title} cannot be imported: {error}."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, f"Run: {extra_command('providers')}") from error


def missing_of(packages: Sequence[str]) -> list[str]:
    """List the packages that are not installed, including the library itself. Imports nothing."""
    return [package for package in ("pydantic_ai", *packages) if not _is_there(package)]


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
