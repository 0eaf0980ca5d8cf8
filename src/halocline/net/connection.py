"""One HTTP/1.1 connection."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

import h11

_READ_SIZE = 65_536
_WRITE_SIZE = 131_072
_HEAD_LIMIT = 131_072


class ConnectionLost(Exception):
    """The connection ended before one byte of an answer."""


class _Body:
    """The parts of a request's body, shown to h11 as one thing with a length so that it need not join them."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._length = sum(map(len, parts))

    def __len__(self) -> int:
        return self._length


class Connection:
    """A socket with its protocol state. Whoever holds it must `abort` it or give it back to its client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
        self._heard = False

    @property
    def usable(self) -> bool:
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def quiet(self) -> bool:
        """Whether it is open and nothing came since the last answer: what comes unasked is no answer to anything."""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(0):
                await self._reader.read(1)
            return False
        return self.usable

    async def ask(self, request: h11.Request, parts: Sequence[bytes]) -> h11.Response:
        """Send a request and wait for the head of its answer.

        Raises:
            ConnectionLost: the connection ended before any byte came back.
        """
        self._heard = False
        head = self._protocol.send(request) or b""
        if parts:
            self._protocol.send_with_data_passthrough(h11.Data(data=cast(bytes, _Body(parts))))
        self._protocol.send(h11.EndOfMessage())
        try:
            for batch in _batches([head, *parts]):
                self._writer.write(batch)
            # A server may answer and close before it has read everything; then its answer counts.
            with suppress(ConnectionError):
                await self._writer.drain()
            while not isinstance(event := await self._event(), h11.Response):
                pass
        except (h11.RemoteProtocolError, OSError) as error:
            if self._heard:
                raise
            raise ConnectionLost(str(error)) from error
        return event

    async def chunk(self, stall_timeout: float) -> bytes:
        """The next piece of the body; empty at its end. Raises TimeoutError after so many seconds of silence."""
        if self._protocol.their_state is not h11.SEND_BODY:
            return b""
        event: object = self._protocol.next_event()
        if event is h11.NEED_DATA:
            async with asyncio.timeout(stall_timeout):
                event = await self._event()
        pieces: list[bytes] = []
        while isinstance(event, h11.Data):
            pieces.append(event.data)
            event = self._protocol.next_event()
        return b"".join(pieces)

    def ready_again(self) -> bool:
        """Whether the connection can carry another request; it is made ready for it."""
        if self._protocol.our_state is not h11.DONE or self._protocol.their_state is not h11.DONE:
            return False
        if self._protocol.trailing_data[0]:
            return False
        self._protocol.start_next_cycle()
        return self.usable

    def abort(self) -> None:
        """Close the socket at once, without waiting for anything."""
        self._writer.transport.abort()

    async def _event(self) -> object:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(_READ_SIZE)
            self._heard = self._heard or bool(data)
            self._protocol.receive_data(data)
        return event


def _batches(parts: Sequence[bytes]) -> Iterator[bytes]:
    """The parts, joined to pieces worth a write: the first is under way while the rest of a long history is joined."""
    batch: list[bytes] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += len(part)
        if size >= _WRITE_SIZE:
            yield b"".join(batch)
            batch, size = [], 0
    yield b"".join(batch)
