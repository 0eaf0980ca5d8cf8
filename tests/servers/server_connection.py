"""The server's side of one HTTP/1.1 connection."""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from tests.servers.wire_formats import Refusal


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A client's request. Header names are in lower case; `body` is the decoded JSON, `raw` its bytes."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    connection: int

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.raw)


class ClientGone(Exception):
    """The client closed the connection before its response was complete."""


class _Reading:
    """Parser of the bytes fed to it into requests."""

    def __init__(self, connection: int) -> None:
        self.requests: deque[ReceivedRequest] = deque()
        self.idle = True
        self.keep_alive = True
        self.chunks = True
        self._connection = connection
        self._parser = HttpRequestParser(self)

    def feed(self, data: bytes) -> None:
        """Parse some bytes. Raises ClientGone if they are not a request."""
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            raise ClientGone(str(error)) from error

    def on_message_begin(self) -> None:
        self.idle = False
        self._path = b""
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []

    def on_url(self, part: bytes) -> None:
        self._path += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1").strip(" \t")

    def on_headers_complete(self) -> None:
        self.keep_alive = self._parser.should_keep_alive()
        self.chunks = self._parser.get_http_version() != "1.0"

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self.idle = True
        method, path = self._parser.get_method().decode(), self._path.decode("latin-1")
        raw = b"".join(self._parts)
        self.requests.append(ReceivedRequest(method, path, self._headers, raw, self._connection))


class ServerConnection:
    """Reads requests and writes responses in turn. `write_size` splits what is sent; 0 does not."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int, write_size: int
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._write_size = write_size
        self._reading = _Reading(number)
        self._chunked = False
        self._over = False

    async def request(self) -> ReceivedRequest | None:
        """The next request; None when the client has no more. Raises ClientGone if it is incomplete."""
        while not self._reading.requests:
            data = b"" if self._over else await self._read()
            if data:
                self._reading.feed(data)
            elif self._reading.idle:
                return None
            else:
                raise ClientGone
        return self._reading.requests.popleft()

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(65_536)
        except ConnectionError:
            return b""

    async def send_head(self, status: int, headers: Mapping[str, str]) -> None:
        fields = dict(headers)
        self._chunked = "content-length" not in headers and self._reading.chunks
        self._over = not self._reading.keep_alive or not ("content-length" in headers or self._chunked)
        if self._chunked:
            fields["transfer-encoding"] = "chunked"
        if self._over:
            fields["connection"] = "close"
        lines = [f"HTTP/1.1 {status} ", *(f"{name}: {value}" for name, value in fields.items())]
        await self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def send(self, data: bytes) -> None:
        await self._write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked and data else data)

    async def end(self) -> None:
        """End the response; another request may follow, unless the client wants no more."""
        if self._chunked:
            await self._write(b"0\r\n\r\n")

    async def send_document(self, status: int, document: Any, headers: Mapping[str, str] | None = None) -> None:
        body = msgspec.json.encode(document)
        sizes = {"content-type": "application/json", "content-length": str(len(body))}
        await self.send_head(status, sizes | dict(headers or {}))
        await self.send(body)
        await self.end()

    async def refuse(self, refusal: Refusal, retry_after: float | None = None) -> None:
        headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
        await self.send_document(refusal.status, refusal.document, headers)

    async def pause(self, seconds: float | None) -> None:
        """Wait, forever with None. Raises ClientGone as soon as the client leaves."""
        if seconds == 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reader.read(1)
                raise ClientGone

    def break_off(self) -> None:
        """Close the connection in the middle of the response."""
        self._writer.close()

    async def _write(self, data: bytes) -> None:
        for part in self._cut(data):
            self._writer.write(part)
            await self._writer.drain()
            if self._reader.at_eof():
                raise ClientGone

    def _cut(self, data: bytes) -> Iterator[bytes]:
        size = self._write_size or max(1, len(data))
        return (data[start : start + size] for start in range(0, len(data), size))
