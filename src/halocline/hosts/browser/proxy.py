"""The browser's only connection to the network: a local proxy that has every server judged before connecting to it.

What must stay true: a connection goes to the addresses that were judged and serves one request or one tunnel; only our
browser is served.
"""

import asyncio
import hmac
import os
import socket
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import h11
from msgspec.structs import replace

from halocline.hosts.browser.relay import CHUNK, BrowserConnection, build_request, pass_response, relay_both
from halocline.net.address import Address, address_of
from halocline.net.connection import ConnectionLost
from halocline.net.dialing import Dialer
from halocline.net.network import Network
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.waiting import end_tasks

Judge = Callable[[str], Awaitable[tuple[str, ...]]]

USER = "halocline"
HEAD = 30.0
MOST_REFUSALS = 50
NOT_FOUND = "The host name {host} does not resolve."
OURS = "{server} belongs to Halocline itself and cannot be opened."
CHROMIUM_ITSELF = frozenset(
    f"{name}.googleapis.com"
    for name in ("content-autofill", "update", "optimizationguide-pa", "safebrowsing", "safebrowsingohttpgateway")
) | {"clients2.google.com", "redirector.gvt1.com", "edgedl.me.gvt1.com"}
"""Servers that Chromium contacts by itself, whatever page it shows. No page needs them."""


class Refused(Exception):
    """The connection is refused; the text says why, `status` is the browser's answer."""

    def __init__(self, text: str, status: int = 403) -> None:
        super().__init__(text)
        self.status = status


class BrowserGate:
    """`judge` returns a server's addresses, `network_for` its network settings; `own_ports` are our listening ports."""

    def __init__(
        self, judge: Judge, network_for: Callable[[str], Network], own_ports: Callable[[], Iterable[int]]
    ) -> None:
        self._judge = judge
        self._network_for = network_for
        self._own_ports = own_ports
        self._password = os.urandom(24).hex()
        self._server: asyncio.Server | None = None
        self._refusals: dict[str, str] = {}
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> dict[str, str]:
        """Listen; returns the proxy settings for Playwright."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=CHUNK)
        port = self._server.sockets[0].getsockname()[1]
        return {"server": f"http://127.0.0.1:{port}", "username": USER, "password": self._password}

    async def close(self) -> None:
        """Stop listening and cut all connections."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for writer in self._open.values():
            writer.transport.abort()
        await end_tasks(*self._open)

    def refusals(self) -> dict[str, str]:
        """Take the servers that were not reached since the last call, by host and port, with the reasons."""
        refusals, self._refusals = self._refusals, {}
        return refusals

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            with suppress(OSError, TimeoutError, ConnectionLost, h11.ProtocolError, asyncio.IncompleteReadError):
                await self._exchange(BrowserConnection(reader, writer))
        finally:
            del self._open[task]
            writer.close()

    async def _exchange(self, client: BrowserConnection) -> None:
        async with asyncio.timeout(HEAD):
            request = await client.request()
        while not self._is_authorized(request):
            await client.respond(407, [("proxy-authenticate", 'Basic realm="halocline"')])
            async with asyncio.timeout(HEAD):
                request = await client.request()
        try:
            await self._pass_on(request, client)
        except Refused as refused:
            await client.respond(refused.status, [], str(refused))

    def _is_authorized(self, request: h11.Request) -> bool:
        given = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        wanted = b"Basic " + b64encode(f"{USER}:{self._password}".encode())
        return hmac.compare_digest(given, wanted)

    async def _pass_on(self, request: h11.Request, client: BrowserConnection) -> None:
        target = request.target.decode("ascii", "replace")
        if request.method == b"CONNECT":
            address = address_of(f"https://{target}")
            dialer = await self._dialer(address, target)
            with self._recording_refusals(target):
                streams = await dialer.tunnel()
            await client.connected()
            await relay_both(client, *streams)
            return
        address = address_of(target)
        if address is None or address.tls:
            raise Refused(f"{target[:200]} is not an http URL.", 400)
        body = await client.body()
        dialer = await self._dialer(address, target)
        with self._recording_refusals(address.authority):
            reader, writer = await dialer.plain()
        try:
            await pass_response(build_request(request, target, self._network_for(target)), body, reader, writer, client)
        finally:
            writer.transport.abort()

    async def _dialer(self, address: Address | None, target: str) -> Dialer:
        """A dialer for the server, once it was judged. Raises Refused."""
        if address is None:
            raise Refused(f"{target[:200]} is not a server address.", 400)
        if address.hostname in CHROMIUM_ITSELF:
            raise Refused(f"{address.hostname} is blocked: only Chromium itself uses it.")
        scheme = "https" if address.tls and address.port != 80 else "http"
        url = f"{scheme}://{address.authority}/"
        with self._recording_refusals(address.authority):
            addresses = await self._judge(url)
            network = self._network_for(url)
            self._require_not_ours(address, addresses)
            if not addresses and network.proxy is None:
                raise ToolFailure(NOT_FOUND.format(host=address.hostname))
        return Dialer(address, address.authority, replace(network, pinned=addresses))

    @contextmanager
    def _recording_refusals(self, server: str) -> Iterator[None]:
        """Record why a server was not reached. Raises Refused."""
        try:
            yield
        except HaloclineError as error:
            if len(self._refusals) < MOST_REFUSALS:
                self._refusals[server] = error.text
            raise Refused(error.text, 403 if isinstance(error, ToolFailure) else 502) from error

    def _require_not_ours(self, address: Address, addresses: tuple[str, ...]) -> None:
        if any(map(_is_here, addresses)) and address.port in self._own_ports():
            raise ToolFailure(OURS.format(server=address.authority))


def _is_here(address: str) -> bool:
    """True if an address is this machine's: a socket can only be bound to such a one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))
        return True
    return False
