"""A real server on the loopback that answers with documents, by path."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.servers.server_connection import ClientGone, ReceivedRequest, ServerConnection


class Documents:
    """Answers a path with its document; what it does not have is not found."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self.documents = dict(documents)
        self.requests: list[ReceivedRequest] = []
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, 1, 0)
        try:
            while (request := await connection.request()) is not None:
                self.requests.append(request)
                document = self.documents.get(request.path)
                await connection.send_document(404 if document is None else 200, document)
        except ClientGone:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def documents(given: Mapping[str, Any]) -> AsyncIterator[Documents]:
    """A running server; `url` is its root."""
    served = Documents(given)
    server = await asyncio.start_server(served.answer, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        await server.wait_closed()
