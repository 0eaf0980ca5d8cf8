"""A small web site on the loopback for tests with a browser: pages by their path, and what was asked of it."""

import asyncio
import ssl
from dataclasses import dataclass, field


@dataclass
class Page:
    body: str = ""
    media_type: str = "text/html; charset=utf-8"
    status: str = "200 OK"
    headers: tuple[str, ...] = ()


@dataclass
class Site:
    pages: dict[str, Page | str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    asked: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        return int(self.server.sockets[0].getsockname()[1])

    def url(self, path: str = "/", host: str = "localhost") -> str:
        return f"http{'s' if self.tls else ''}://{host}:{self.port}{path}"

    async def __aenter__(self) -> "Site":
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self.server is not None
        self.server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        self.asked.append(f"{method} {path}")
        lengths = [line[15:] for line in head.split("\r\n") if line.lower().startswith("content-length")]
        if lengths:
            self.bodies.append(await reader.readexactly(int(lengths[0])))
        page = self.pages.get(path.partition("?")[0], Page("nothing here", status="404 Not Found"))
        page = Page(page) if isinstance(page, str) else page
        body = page.body.encode()
        lines = [f"HTTP/1.1 {page.status}", f"Content-Type: {page.media_type}", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "Connection: close", *page.headers]).encode() + b"\r\n\r\n" + body)
        await writer.drain()
