"""JSON-RPC with a language server over its standard input and output.

What must stay true: a server that hangs, floods, prints rubbish or dies costs bounded time and memory, and pending
requests to it raise `ServerGone`. Nothing here blocks: unread data to a server is bounded too.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

LARGEST_MESSAGE = 1 << 25
MOST_UNREAD = 1 << 25
"""Bytes that a server may leave unread."""
MOST_UNASKED = 1 << 25
"""Bytes that a server may send unasked."""
EARNED = 1 << 22
"""Bytes that each message from us allows on top. Resetting the count instead would let a slow flood go on forever."""
_METHOD_NOT_FOUND = -32601


class ServerGone(Exception):
    """The server ended or was stopped."""


class RequestFailed(Exception):
    """The server answered with an error; `code` is JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class RpcError(msgspec.Struct):
    code: int = 0
    message: str = ""


class Message(msgspec.Struct):
    """Any message; a request has `id` and `method`, a response only `id`, a notification only `method`."""

    id: int | str | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: RpcError | None = None


_decoder = json_input.Decoder(Message)


class Connection:
    """The pipes to one server. `on_notification` gets its notifications, `answer` answers its requests."""

    def __init__(
        self, on_notification: Callable[[str, msgspec.Raw], None], answer: Callable[[str, msgspec.Raw], Any]
    ) -> None:
        self._on_notification = on_notification
        self._answer_request = answer
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._next = 0
        self._unasked = 0
        self._gone = False

    async def open(self, reading: int, writing: int) -> None:
        """Take over the descriptors."""
        loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(1 << 16)
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._input, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb", 0))
        self._output, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))

    async def listen(self) -> None:
        """Read messages until the server ends or breaks the protocol."""
        try:
            while True:
                self._take(await self._read())
                await asyncio.sleep(0)  # a flood must not block other tasks
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, ServerGone):
            return
        finally:
            self.close()

    async def request(self, method: str, params: JsonObject) -> msgspec.Raw:
        """Send a request and wait for the response.

        Raises:
            ServerGone, RequestFailed
        """
        self._next += 1
        number = self._next
        self._waiting[number] = future = asyncio.get_running_loop().create_future()
        try:
            self._send({"id": number, "method": method, "params": params})
            answer: msgspec.Raw = await future
            return answer
        except asyncio.CancelledError:
            self._send_if_there({"method": "$/cancelRequest", "params": {"id": number}})
            raise
        finally:
            self._waiting.pop(number, None)

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. Raises ServerGone."""
        self._send({"method": method, "params": params})

    def close(self) -> None:
        """Close the pipes; pending requests raise ServerGone."""
        if self._gone:
            return
        self._gone = True
        self._input.close()
        if not self._output.is_closing():
            self._output.abort()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ServerGone())

    def _send_if_there(self, message: JsonObject) -> None:
        if not self._gone:
            self._send(message)

    def _send(self, message: JsonObject) -> None:
        if self._gone:
            raise ServerGone
        self._unasked = max(0, self._unasked - EARNED)
        data = msgspec.json.encode({"jsonrpc": "2.0", **message})
        self._output.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        if self._output.get_write_buffer_size() > MOST_UNREAD:
            self.close()

    async def _read(self) -> Message:
        size = -1
        while (line := await self._reader.readuntil(b"\n")) != b"\r\n":
            name, _, value = line.lower().partition(b":")
            if not name.startswith(b"content-"):
                raise ServerGone
            if name == b"content-length":
                size = int(value)
        if not 0 <= size <= LARGEST_MESSAGE:
            raise ServerGone
        self._unasked += size
        if self._unasked > MOST_UNASKED:
            raise ServerGone
        return _decoder.decode(await self._reader.readexactly(size))

    def _take(self, message: Message) -> None:
        if message.method and message.id is not None:
            self._send(self._answer(message))
        elif message.method:
            self._on_notification(message.method, message.params)
        elif isinstance(message.id, int) and (future := self._waiting.get(message.id)) and not future.done():
            if message.error is not None:
                future.set_exception(RequestFailed(message.error.code, message.error.message))
            else:
                future.set_result(message.result)

    def _answer(self, message: Message) -> JsonObject:
        """Build the response; it does not reset the flood limit, so that a flood of requests is stopped too."""
        self._unasked += 1024
        try:
            return {"id": message.id, "result": self._answer_request(message.method, message.params)}
        except NotImplementedError:
            return {"id": message.id, "error": {"code": _METHOD_NOT_FOUND, "message": "method not found"}}
