"""Fetches pages over HTTP: one request at a time, to addresses that the gate approved, with limits on time and size."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from halocline._version import __version__
from halocline.net.network import Network
from halocline.ports.host import WebAnswer
from halocline.protocol.errors import HaloclineError, ToolFailure

if TYPE_CHECKING:
    from halocline.net.http import Response

TIME_LIMIT = 30.0
REDIRECTS = (301, 302, 303, 307, 308)
LARGEST = 5_000_000
"""Largest body in bytes, as received and as unpacked."""
_CODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
"""Content codings that the connection decodes."""
HEADERS = {
    "user-agent": f"Mozilla/5.0 (compatible; Halocline/{__version__})",
    "accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "accept-encoding": "gzip, deflate",
}


class LocalWeb:
    """Implements `ports.host.Web`. `network_for` gives a URL's network settings: proxy, certificates, timeouts."""

    def __init__(self, network_for: Callable[[str], Network]) -> None:
        self._network_for = network_for

    async def lookup(self, hostname: str) -> tuple[str, ...]:
        """The IP addresses of a name from the system's resolver; empty if it does not resolve."""
        from socket import SOCK_STREAM

        try:
            async with asyncio.timeout(TIME_LIMIT):
                found = await asyncio.get_running_loop().getaddrinfo(hostname, None, type=SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(str(address[0]) for *_, address in found))

    async def get(self, url: str, addresses: tuple[str, ...]) -> WebAnswer:
        """Request a page once. Raises ToolFailure."""
        return await self.ask(url, addresses, HEADERS)

    async def ask(
        self, url: str, addresses: tuple[str, ...], headers: Mapping[str, str], body: bytes = b""
    ) -> WebAnswer:
        """Send one request; with a body, a POST. Raises ToolFailure."""
        network = self._network_for(url)
        host = urlsplit(url).netloc
        if not addresses and network.proxy is None:
            raise ToolFailure(f"{host} was not found: the host name does not resolve. Check the URL.")
        try:
            async with asyncio.timeout(TIME_LIMIT):
                return await _ask_server(url, replace(network, pinned=addresses), headers, body)
        except TimeoutError:
            raise ToolFailure(f"{host} did not send its whole response within {TIME_LIMIT:g} s.") from None
        except HaloclineError as error:
            raise ToolFailure(error.text) from error


async def _ask_server(url: str, network: Network, headers: Mapping[str, str], body: bytes) -> WebAnswer:
    from halocline.net.http import HttpClient

    parts = urlsplit(url)
    client = HttpClient(f"{parts.scheme}://{parts.netloc}", network)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        response = await (client.post(path, headers, (body,)) if body else client.get(path, headers))
        with closing(response):
            return await _read_answer(response)
    finally:
        await client.close()


async def _read_answer(response: "Response") -> WebAnswer:
    """Read the response; the body of a redirect is skipped."""
    headers = response.headers
    media_type, _, parameters = headers.get("content-type", "").lower().partition(";")
    location = headers.get("location", "") if response.status in REDIRECTS else ""
    if location:
        return WebAnswer(response.status, media_type.strip(), location=location)
    if (coding := headers.get("content-encoding", "").strip().lower()) not in _CODINGS:
        raise ToolFailure(f"The response uses the content encoding {coding}, which is not supported.")
    async with aclosing(response.body()) as chunks:
        body, cut = await _read_body(chunks)
    return WebAnswer(response.status, media_type.strip(), _find_charset(parameters), "", body, cut)


async def _read_body(chunks: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """Return the body and True if it was cut at the size limit, which also stops decompression bombs."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > LARGEST:
            return bytes(body[:LARGEST]), True
    return bytes(body), False


def _find_charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            return value.strip().strip("\"'")
    return ""
