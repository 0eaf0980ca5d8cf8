"""The server's side of one HTTP/1.1 connection."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import h11
import msgspec

from halocline.testing.wire_formats import Refusal


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """What a client sent. Header names are in lower case; `body` is the decoded JSON, `raw` its bytes."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    connection: int

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.raw)


class ClientGone(Exception):
    """The client closed the connection before its answer was complete."""


class ServerConnection:
    """Requests come in, answers go out, one after another. `write_size` cuts what is sent; 0 leaves it whole."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int, write_size: int
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._number = number
        self._write_size = write_size
        self._protocol = h11.Connection(h11.SERVER)

    async def request(self) -> ReceivedRequest | None:
        """The next request; None when the client has no more."""
        head: h11.Request | None = None
        parts: list[bytes] = []
        while True:
            match event := self._protocol.next_event():
                case h11.Request():
                    head = event
                case h11.Data():
                    parts.append(bytes(event.data))
                case h11.EndOfMessage() if head is not None:
                    headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
                    method, path = head.method.decode(), head.target.decode()
                    return ReceivedRequest(method, path, headers, b"".join(parts), self._number)
                case h11.ConnectionClosed():
                    return None
                case _ if event is h11.NEED_DATA:
                    self._protocol.receive_data(await self._read())
                case _:
                    return None

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(65_536)
        except ConnectionError:
            return b""

    def next(self) -> None:
        """Make ready for another request, when the connection stays; otherwise the next one is None."""
        if self._protocol.our_state is h11.DONE and self._protocol.their_state is h11.DONE:
            self._protocol.start_next_cycle()

    async def send_head(self, status: int, headers: Mapping[str, str]) -> None:
        await self._write(self._protocol.send(h11.Response(status_code=status, headers=list(headers.items()))))

    async def send(self, data: bytes) -> None:
        await self._write(self._protocol.send(h11.Data(data=data)))

    async def end(self) -> None:
        await self._write(self._protocol.send(h11.EndOfMessage()))

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
        """Wait, for ever when None. Raises ClientGone as soon as the client leaves."""
        if seconds == 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reader.read(1)
                raise ClientGone

    def break_off(self) -> None:
        """Close the connection in the middle of the answer."""
        self._writer.close()

    async def _write(self, data: bytes | None) -> None:
        for part in self._cut(data or b""):
            self._writer.write(part)
            await self._writer.drain()
            if self._reader.at_eof():
                raise ClientGone

    def _cut(self, data: bytes) -> Iterator[bytes]:
        size = self._write_size or max(1, len(data))
        return (data[start : start + size] for start in range(0, len(data), size))
