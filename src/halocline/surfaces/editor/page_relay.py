"""The page inside an editor: its socket and its requests are relayed over the extension, so no port is open.

The page is the one that `halo web` serves. Its files are written to a folder that the editor loads them from.
"""

import asyncio
import base64
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.editor.peer import Peer
from halocline.surfaces.web.connection import PageConnection
from halocline.surfaces.web.idempotency import IdempotencyKeys
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.task_view.views import TaskViews

LARGEST_BODY = 32 * 2**20
"""Bytes of a relayed request, as in the browser."""
MOST_PAGES = 16


class RelayedSocket:
    """The part of a WebSocket that a `PageConnection` needs, over the extension."""

    def __init__(self, peer: Peer, page: str) -> None:
        self._peer = peer
        self._page = page
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()

    def take(self, text: str | None) -> None:
        """Take a message of the page; None when it left."""
        self._messages.put_nowait(text)

    async def receive(self) -> Message:
        text = await self._messages.get()
        return (
            {"type": "websocket.disconnect", "code": 1000}
            if text is None
            else {"type": "websocket.receive", "text": text}
        )

    async def send_text(self, data: str) -> None:
        await self._peer.notify("page/message", {"page": self._page, "text": data})

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        await self._peer.notify("page/closed", {"page": self._page, "code": code, "reason": reason or ""})
        raise WebSocketDisconnect(code)


class OfPage(Value, frozen=True):
    """A page by the name that the extension gave it, and a message of it."""

    page: str
    text: str = ""


class Fetch(Value, frozen=True):
    """A request of a page. `body` is in Base64."""

    path: str
    method: str = "GET"
    body: str = ""


class PageRelay:
    """All pages of one extension. A page keeps its client name when it connects again."""

    def __init__(self, peer: Peer, tasks: OpenTasks, site: Starlette) -> None:
        self._peer = peer
        self._tasks = tasks
        self._site = site
        self._once = IdempotencyKeys()
        self._views = TaskViews(tasks)
        self._pages: dict[str, tuple[RelayedSocket, asyncio.Task[None]]] = {}

    async def open_page(self, which: OfPage) -> None:
        """Connect a page; an older connection of the same page ends."""
        await self.close_page(which)
        while len(self._pages) >= MOST_PAGES:
            await self.close_page(OfPage(next(iter(self._pages))))
        socket = RelayedSocket(self._peer, which.page)
        connection = PageConnection(self._tasks, self._views, self._once, socket, f"editor {which.page}")
        self._pages[which.page] = socket, asyncio.create_task(connection.serve(), name=f"page {which.page}")

    async def take_message(self, which: OfPage) -> None:
        """Hand a message of a page to its connection. A page that is not connected is told to connect again."""
        if found := self._pages.get(which.page):
            found[0].take(which.text)
        else:
            await self._peer.notify("page/closed", {"page": which.page, "code": 1001, "reason": "Not connected."})

    async def close_page(self, which: OfPage) -> None:
        """End the connection of a page."""
        if found := self._pages.pop(which.page, None):
            found[0].take(None)
            await asyncio.gather(found[1], return_exceptions=True)

    async def fetch(self, given: Fetch) -> JsonObject:
        """Answer an HTTP request of a page: uploads, images and exports."""
        body = base64.b64decode(given.body)
        status, headers, data = await call_site(self._site, given.method, given.path, body)
        return {"status": status, "type": headers.get("content-type", ""), "body": base64.b64encode(data).decode()}

    async def close(self) -> None:
        for page in [*self._pages]:
            await self.close_page(OfPage(page))


async def call_site(site: Starlette, method: str, path: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
    """Call an application without a network; return status, headers and body of its answer."""
    parts = urlsplit(path)
    scope = {
        "type": "http",
        "method": method,
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(b"host", b"editor"), (b"content-length", str(len(body)).encode())],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("editor", 0),
        "client": None,
        "root_path": "",
    }
    status, headers, data = 500, {}, bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            data.extend(message.get("body", b""))

    await site(scope, receive, send)
    return status, headers, bytes(data)
