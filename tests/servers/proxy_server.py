"""A real HTTP proxy on localhost: it opens tunnels for CONNECT and forwards plain requests with an absolute URL.

    async with ProxyServer(routes={"models.example:443": server_port}) as proxy:
        environ = {"HTTPS_PROXY": proxy.url}

`routes` maps made-up host names to ports of this machine, so that a test can use real-looking hosts.
"""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.servers.listener import Listener


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """The head of a request as the proxy received it. Header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]


class ProxyServer(Listener):
    """Forwards requests, each on its own connection.

    `credentials` (`user:password`), if given, are required. A `status` other than 200 refuses every CONNECT with that
    status; with `silent`, none is answered. With `tls`, clients must use TLS to the proxy itself. `requests` are the
    requests it received; `left` counts the connections that clients ended.
    """

    def __init__(
        self,
        *,
        routes: Mapping[str, int] | None = None,
        credentials: str = "",
        status: int = 200,
        silent: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(self._answer_all, tls=tls)
        self.requests: list[ProxyRequest] = []
        self.left = 0
        self._routes = dict(routes or {})
        self._wanted = f"Basic {b64encode(credentials.encode()).decode()}" if credentials else ""
        self._status = status
        self._silent = silent

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def received(self, count: int = 1) -> None:
        """Wait until `count` requests have arrived."""
        await self._wait_for(lambda: len(self.requests) >= count)

    async def was_left(self, count: int = 1) -> None:
        """Wait until `count` clients ended their connection."""
        await self._wait_for(lambda: self.left >= count)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Anything but an HTTP request gets no response.
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await self._serve(reader, writer)
        writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = _parse_request(await reader.readuntil(b"\r\n\r\n"))
        async with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        status = self._verdict(request)
        if status == 200 and not self._silent:
            return await self._pass_on(request, reader, writer)
        if status != 200:
            writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status)
        await reader.read()
        return await self._note_leaving()

    def _verdict(self, request: ProxyRequest) -> int:
        if self._wanted and request.headers.get("proxy-authorization") != self._wanted:
            return 407
        return self._status

    async def _pass_on(self, request: ProxyRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tunnel = request.method == "CONNECT"
        url = urlsplit(f"//{request.target}" if tunnel else request.target)
        host, port = url.hostname, url.port or 80
        routed = self._routes.get(f"{host}:{port}")
        try:
            there, server = await asyncio.open_connection(*(("127.0.0.1", routed) if routed else (host, port)))
        except OSError:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return await writer.drain()
        if tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            server.write(_origin_form(request, f"{url.path}{'?' if url.query else ''}{url.query}"))
        back = asyncio.create_task(_copy_stream(there, writer))
        try:
            await _copy_stream(reader, server)
            await self._note_leaving()
        finally:
            server.transport.abort()
            await back

    async def _note_leaving(self) -> None:
        async with self._changed:
            self.left += 1
            self._changed.notify_all()


def _parse_request(head: bytes) -> ProxyRequest:
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ")
    fields = (line.partition(":") for line in lines)
    return ProxyRequest(method, target, {name.lower(): value.strip() for name, _, value in fields})


def _origin_form(request: ProxyRequest, path: str) -> bytes:
    """The head for the server: only the path, one request per connection, without the proxy's headers."""
    headers = request.headers | {"connection": "close"}
    headers.pop("proxy-authorization", None)
    lines = [f"{request.method} {path or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _copy_stream(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
