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
from dataclasses import replace
from urllib.parse import urlsplit

import h11

from halocline.net.address import Address, address_of
from halocline.net.connection import ConnectionLost
from halocline.net.dialing import Dialer
from halocline.net.network import Network
from halocline.protocol.errors import HaloclineError, ToolFailure

Judge = Callable[[str], Awaitable[tuple[str, ...]]]

USER = "halocline"
HEAD = 30.0
SILENCE = 300.0
LARGEST_BODY = 64_000_000
MOST_REFUSALS = 50
NOT_FOUND = "The host name {host} does not resolve."
OURS = "{server} belongs to Halocline itself and cannot be opened."
CHROMIUM_ITSELF = frozenset(
    f"{name}.googleapis.com"
    for name in ("content-autofill", "update", "optimizationguide-pa", "safebrowsing", "safebrowsingohttpgateway")
) | {"clients2.google.com", "redirector.gvt1.com", "edgedl.me.gvt1.com"}
"""Servers that Chromium contacts by itself, whatever page it shows. No page needs them."""
_CHUNK = 65_536
_HOP = frozenset(
    (b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"te", b"trailer", b"upgrade")
)
_BODY_FRAMING = frozenset((b"transfer-encoding", b"content-length"))


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
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_CHUNK)
        port = self._server.sockets[0].getsockname()[1]
        return {"server": f"http://127.0.0.1:{port}", "username": USER, "password": self._password}

    async def close(self) -> None:
        """Stop listening and cut all connections."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        serving = list(self._open)
        for writer in self._open.values():
            writer.transport.abort()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

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
                await self._exchange(_Client(reader, writer))
        finally:
            del self._open[task]
            writer.close()

    async def _exchange(self, client: "_Client") -> None:
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

    async def _pass_on(self, request: h11.Request, client: "_Client") -> None:
        target = request.target.decode("ascii", "replace")
        if request.method == b"CONNECT":
            address = address_of(f"https://{target}")
            dialer = await self._dialer(address, target)
            with self._recording_refusals(target):
                streams = await dialer.tunnel()
            await client.connected()
            await _relay_both(client, *streams)
            return
        address = address_of(target)
        if address is None or address.tls:
            raise Refused(f"{target[:200]} is not an http URL.", 400)
        body = await client.body()
        dialer = await self._dialer(address, target)
        with self._recording_refusals(address.authority):
            reader, writer = await dialer.plain()
        try:
            await _pass_answer(
                _outgoing_request(request, target, self._network_for(target)), body, reader, writer, client
            )
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


class _Client:
    """The browser's end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 18)

    async def request(self) -> h11.Request:
        if self._protocol.our_state is h11.DONE:
            await self.body()
            self._protocol.start_next_cycle()
        event = await self._event()
        if not isinstance(event, h11.Request):
            raise ConnectionLost("no request")
        return event

    async def body(self) -> list[bytes]:
        parts: list[bytes] = []
        size = 0
        while self._protocol.their_state is h11.SEND_BODY:
            event = await self._event()
            if isinstance(event, h11.Data):
                parts.append(bytes(event.data))
                size += len(event.data)
            if size > LARGEST_BODY:
                raise ConnectionLost("the body is too large")
            if isinstance(event, h11.ConnectionClosed):
                raise ConnectionLost("the body was cut off")
        return parts

    async def respond(self, status: int, headers: list[tuple[str, str]], text: str = "") -> None:
        """Send a response of our own; only a request for the password keeps the connection open."""
        body = text.encode()
        end = [] if status == 407 else [("connection", "close")]
        head = [*headers, ("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body))), *end]
        await self.send(h11.Response(status_code=status, headers=head), h11.Data(data=body), h11.EndOfMessage())

    async def connected(self) -> None:
        await self.send(h11.Response(status_code=200, headers=[]))

    async def send(self, *events: h11.Event) -> None:
        for event in events:
            self.writer.write(self._protocol.send(event) or b"")
        await self.writer.drain()

    @property
    def early(self) -> bytes:
        """Bytes that followed the request for a tunnel."""
        return self._protocol.trailing_data[0]

    async def _event(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(await self.reader.read(_CHUNK))
        return event


def _outgoing_request(request: h11.Request, target: str, network: Network) -> h11.Request:
    """The request as the server or the next proxy should see it."""
    parts = urlsplit(target)
    headers = [(name, value) for name, value in request.headers if name not in _HOP]
    headers.append((b"connection", b"close"))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if network.proxy is not None:
        path = target
        if network.proxy.authorization:
            headers.append((b"proxy-authorization", network.proxy.authorization.encode()))
    return h11.Request(method=request.method, target=path, headers=headers)


async def _pass_answer(
    request: h11.Request,
    body: list[bytes],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    client: _Client,
) -> None:
    """Pass the response on as it arrives; the connection ends with it."""
    server = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 18)
    for sent in (request, *(h11.Data(data=part) for part in body), h11.EndOfMessage()):
        writer.write(server.send(sent) or b"")
    await writer.drain()
    while not isinstance(event := server.next_event(), h11.EndOfMessage):
        match event:
            case h11.Response():
                headers = [(name, value) for name, value in event.headers if name not in _HOP]
                headers.append((b"connection", b"close"))
                await client.send(h11.Response(status_code=event.status_code, headers=headers, reason=event.reason))
            case h11.Data():
                await client.send(h11.Data(data=event.data))
            case h11.InformationalResponse():
                continue
            case h11.ConnectionClosed():
                raise ConnectionLost("the server closed the connection without a complete response")
            case _:
                async with asyncio.timeout(SILENCE):
                    server.receive_data(await reader.read(_CHUNK))
    await client.send(h11.EndOfMessage())


async def _relay_both(client: _Client, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Relay in both directions until one side ends."""
    try:
        writer.write(client.early)
        pumps = [
            asyncio.ensure_future(_pump_bytes(client.reader, writer)),
            asyncio.ensure_future(_pump_bytes(reader, client.writer)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
    finally:
        writer.transport.abort()


async def _pump_bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()


def _is_here(address: str) -> bool:
    """True if an address is this machine's: a socket can only be bound to such a one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))
        return True
    return False
