"""Passes one request or one tunnel of the browser on to a server, and the response back as it arrives."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

import h11

from halocline.net.connection import ConnectionLost
from halocline.net.network import Network
from halocline.protocol.waiting import end_tasks

SILENCE = 300.0
LARGEST_BODY = 64_000_000
CHUNK = 65_536
_HOP = frozenset(
    (b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"te", b"trailer", b"upgrade")
)


class BrowserConnection:
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
            self._protocol.receive_data(await self.reader.read(CHUNK))
        return event


def build_request(request: h11.Request, target: str, network: Network) -> h11.Request:
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


async def pass_response(
    request: h11.Request,
    body: list[bytes],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    client: BrowserConnection,
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
                    server.receive_data(await reader.read(CHUNK))
    await client.send(h11.EndOfMessage())


async def relay_both(client: BrowserConnection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Relay in both directions until one side ends."""
    try:
        writer.write(client.early)
        pumps = [
            asyncio.ensure_future(_pump_bytes(client.reader, writer)),
            asyncio.ensure_future(_pump_bytes(reader, client.writer)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        await end_tasks(*pumps)
    finally:
        writer.transport.abort()


async def _pump_bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
