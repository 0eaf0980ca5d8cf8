"""Waits on this machine for the browser to return from an OAuth sign-in.

It listens only on 127.0.0.1, at a path that cannot be guessed: the path proves (as OAuth's `state` does) that a request
belongs to the sign-in started here. Every other request gets a 404 and changes nothing.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

_LARGEST = 16_384
_PATIENCE = 10.0

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Halocline</title>
<style>body{{font:17px/1.5 system-ui,sans-serif;max-width:28em;margin:18vh auto;padding:0 1.5em}}
:root{{color-scheme:light dark}}h1{{font-size:1.3em}}</style>
<h1>{title}</h1><p>{text}</p></html>
"""
_HEADERS = (
    "content-type: text/html; charset=utf-8",
    "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy: no-referrer",
    "cache-control: no-store",
    "x-content-type-options: nosniff",
    "connection: close",
)


class Loopback:
    """`async with Loopback() as loopback`: give the browser `loopback.url` to return to, then await `visit`."""

    def __init__(self, port: int = 0, path: str = "") -> None:
        """Pass a port and a path if the server knows them already; then you must check the `state` yourself."""
        from secrets import token_urlsafe

        self._port = port
        self._path = path or f"/callback/{token_urlsafe(24)}"
        self._visited: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._visitors: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, limit=_LARGEST)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for writer in self._visitors:
            writer.transport.abort()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """The address for the browser to return to."""
        return f"http://localhost:{self.port}{self._path}"

    async def wait_for_redirect(self) -> Mapping[str, str]:
        """Wait for the browser; returns the query of the first request to the right path."""
        return await asyncio.shield(self._visited)

    def query_of(self, address: str) -> Mapping[str, str] | None:
        """The query of an address that you pasted; None if it is not the address to return to."""
        parts = urlsplit(address)
        from hmac import compare_digest

        return dict(parse_qsl(parts.query)) if compare_digest(parts.path.encode(), self._path.encode()) else None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._visitors.add(writer)
        try:
            # Anything but a request gets no response. A browser may open connections that it does not use.
            with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(_PATIENCE):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head.decode("latin-1")))
                    await writer.drain()
        finally:
            self._visitors.discard(writer)
            writer.close()

    def _answer(self, head: str) -> bytes:
        method, target, _ = head.partition("\r\n")[0].split(" ")
        query = self.query_of(target)
        if method != "GET" or query is None or self._visited.done():
            return _build_page(
                "404 Not Found", "Page not found", "This sign-in has ended or was started somewhere else."
            )
        self._visited.set_result(dict(query))
        if "code" in query:
            return _build_page("200 OK", "Return to Halocline", "It continues there. You can close this page.")
        return _build_page("200 OK", "Not signed in", "Halocline received no code. You can close this page.")


def _build_page(status: str, title: str, text: str) -> bytes:
    body = _PAGE.format(title=title, text=text).encode()
    return "\r\n".join([f"HTTP/1.1 {status}", *_HEADERS, f"content-length: {len(body)}", "", ""]).encode() + body
