"""A server's standard input and output as the SDK's two streams.

What must stay true: output that is not a message is logged and otherwise ignored; a flood, or a message without an
end, ends the connection with a reason; the SDK learns of the end at once.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from halocline.mcp.connection.mending import mend_answer
from halocline.mcp.connection.server_log import ServerLog
from halocline.ports.programs import Program
from halocline.protocol import json_input

LARGEST_MESSAGE = 1 << 25
MOST_UNASKED = 1 << 26
"""Bytes that a server may send without getting any message."""
_CHUNK = 1 << 16


class Pipes:
    """The pipes of one program. `given_up` is called with the reason when the connection is given up."""

    def __init__(self, program: Program, log: ServerLog, given_up: Callable[[str], None]) -> None:
        self._program = program
        self._log = log
        self._given_up = given_up
        self._unasked = 0

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams, None]:
        """Open the two streams for the duration of the context."""
        to_us, ours = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        theirs, from_us = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._hear, to_us)
            group.start_soon(self._speak, from_us)
            group.start_soon(self._overhear)
            try:
                yield ours, theirs
            finally:
                group.cancel_scope.cancel()
                for stream in (ours, theirs, to_us, from_us):
                    stream.close()

    async def _hear(self, to_us: "MemoryObjectSendStream[SessionMessage | Exception]") -> None:
        rest = bytearray()
        async with to_us:
            try:
                while chunk := await self._program.output.read(_CHUNK):
                    rest += chunk
                    if fault := self._excess(len(chunk), len(rest)):
                        self._given_up(fault)
                        return
                    if b"\n" in chunk:
                        *lines, last = rest.split(b"\n")
                        rest = bytearray(last)
                        for line in lines:
                            await self._take(bytes(line), to_us)
                    await anyio.lowlevel.checkpoint()  # a flood must not block other tasks
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                return

    def _excess(self, more: int, waiting: int) -> str:
        self._unasked += more
        if waiting > LARGEST_MESSAGE:
            return f"it sent a message larger than {LARGEST_MESSAGE >> 20} MB"
        if self._unasked > MOST_UNASKED:
            return f"it sent more than {MOST_UNASKED >> 20} MB unasked"
        return ""

    async def _take(self, line: bytes, to_us: "MemoryObjectSendStream[SessionMessage | Exception]") -> None:
        if not line.strip():
            return
        line = json_input.replace_halves(line)
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._log.noise(line)
            if (answer := mend_answer(line)) is None:
                return
            message = jsonrpc_message_adapter.validate_python(answer)
        await to_us.send(SessionMessage(message))

    async def _speak(self, from_us: "MemoryObjectReceiveStream[SessionMessage]") -> None:
        async with from_us:
            async for sent in from_us:
                self._unasked = 0
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                if self._program.input.is_closing():
                    return
                self._program.input.write(text.encode("utf-8", "replace") + b"\n")
                if self._program.input.get_write_buffer_size() > LARGEST_MESSAGE:
                    self._given_up("it does not read its input")
                    return

    async def _overhear(self) -> None:
        while data := await self._program.errors.read(_CHUNK):
            self._log.printed(data)
            await anyio.lowlevel.checkpoint()
