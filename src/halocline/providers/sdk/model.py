"""Vendors that are asked through pydantic-ai and their own SDKs: whatever our own families do not reach.

The library is an extra, and takes a second or more to import: this module only sees whether it is there, and the first
request imports it in a thread, so that nothing else waits.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from halocline.providers.sdk.http import LibraryExchange

INSTALL = "Install it: pip install 'halocline[providers]' (or: uv tool install 'halocline[providers]')."

VARIABLES = {
    "AWS_REGION": "The region in which Amazon Bedrock is asked.",
    "GOOGLE_CLOUD_PROJECT": "The project for which Vertex AI is asked.",
    "ANTHROPIC_VERTEX_PROJECT_ID": "The same for Claude alone; it wins.",
    "GOOGLE_CLOUD_LOCATION": "Where Vertex AI is asked: a region or `global`.",
    "CLOUD_ML_REGION": "The same for Claude alone; it wins.",
    "OPENAI_API_VERSION": "The dated version of Azure's API; without it the newest one is spoken.",
}
"""What is read beside keys and addresses. The clouds' SDKs read their own variables, too: AWS_PROFILE and the like."""


class Library:
    """A model behind the library. `blobs` holds the pictures that messages refer to."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        """Raises UsageError when the library or the vendor's SDK is not installed."""
        if missing := missing_of(endpoint.vendor.packages):
            text = f"{endpoint.vendor.title} is asked through packages that are not installed: {', '.join(missing)}."
            raise UsageError(text, INSTALL)
        self._endpoint = endpoint
        self._blobs = blobs
        self._opened: LibraryExchange | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._endpoint.name

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
            text = f"The library that {self._endpoint.vendor.title} is asked through does not fit: {error}."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, INSTALL) from error


def missing_of(packages: Sequence[str]) -> list[str]:
    """Those that are not installed, the library itself among them. Nothing is imported."""
    return [package for package in ("pydantic_ai", *packages) if not _is_there(package)]


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package above it
        return False
