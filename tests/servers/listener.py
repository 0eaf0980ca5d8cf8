"""A server's socket on localhost, and the connections to it, which end with it."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """Listens on `port` (0: any) and serves each connection in a task. With `tls`, clients must use TLS.

    Subclasses change what they count below `_changed`, and notify it.
    """

    def __init__(self, serve: Serve, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.port = port
        self._serve_connection = serve
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Cut all connections and wait until they are served no more."""
        if self._server is not None:
            self._server.close()
        # Handlers end with their connection; asyncio would log cancelled ones as errors.
        for writer in self._serving.values():
            writer.transport.abort()
        await asyncio.gather(*self._serving)
        if self._server is not None:
            await self._server.wait_closed()

    async def _wait_for(self, is_so: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(is_so)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._serving[task] = writer
            task.add_done_callback(self._serving.pop)
        await self._serve_connection(reader, writer)
