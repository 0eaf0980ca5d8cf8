"""The routes: the page and its files, sign-in, and the WebSocket."""

import asyncio
import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from halocline.surfaces.web import uploads
from halocline.surfaces.web.auth import COOKIE, Keys
from halocline.surfaces.web.bundle import SCRIPT, bundle_modules
from halocline.surfaces.web.connection import PageConnection
from halocline.surfaces.web.diagram import diagram_page
from halocline.surfaces.web.entry import open_session, until_signed_out
from halocline.surfaces.web.guard import PROTOCOL, Guard, value_of
from halocline.surfaces.web.idempotency import IdempotencyKeys
from halocline.surfaces.web.open_tasks import OpenTasks

STATIC = files("halocline.surfaces.web").joinpath("static")
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
OPEN = ("/", "/worker.js", "/static", "/diagram", "/enter", "/favicon.ico")
"""Paths without a session: static files and sign-in."""
LONGEST_FRAME = 8 * 2**20
"""Bytes of one frame from a page."""
LONGEST_TAB = 64
"""Characters of a tab's name."""
WRONG_TRY = 0.3
"""Seconds to delay the answer to a wrong key."""
FILES = {"/": "index.html", "/worker.js": "worker.js"}
"""Files outside `/static`; a service worker's place is its scope."""


def build_site(
    tasks: OpenTasks, keys: Keys, hosts: tuple[str, ...], port: int, *, own_address: bool = False
) -> ASGIApp:
    """Build the guarded application. `hosts` are the accepted Host names with port."""
    tabs: dict[str, str] = {}
    once = IdempotencyKeys()
    _read_file(SCRIPT)  # bundle now, while the browser starts
    cookie_name = f"{COOKIE}-{port}"  # cookies ignore the port: two servers must not share one

    async def static(request: Request) -> Response:
        return serve_file(
            request.path_params["path"] if "path" in request.path_params else FILES[request.url.path], request
        )

    async def diagram(request: Request) -> Response:
        plain, packed, policy = await asyncio.to_thread(diagram_page)
        tag = f'"{hashlib.sha256(policy.encode()).hexdigest()[:20]}"'
        own = {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
        return _send_file(request, (plain, packed, tag, "text/html"), own)

    async def challenge(request: Request) -> Response:
        return JSONResponse({"challenge": keys.challenge()}, headers={"cache-control": "no-store"})

    async def enter(request: Request) -> Response:
        try:
            body = await request.body()
        except ClientDisconnect:  # the page left, or sent too much
            return JSONResponse({"entered": False, "pairs": keys.pairs}, 413)
        session = await open_session(keys, body, request.headers)
        if session is None:
            await asyncio.sleep(WRONG_TRY)
            return JSONResponse({"entered": False, "pairs": keys.pairs}, 403)
        response = JSONResponse({"entered": True, "key": session.page_key}, headers={"cache-control": "no-store"})
        response.set_cookie(cookie_name, session.cookie, httponly=True, samesite="strict", path="/")
        return response

    async def known(request: Request) -> Response:
        return Response(None, 204)

    async def live(socket: WebSocket) -> None:
        await socket.accept(subprotocol=PROTOCOL)
        tab = socket.query_params.get("page", "")[:LONGEST_TAB] or f"unnamed {len(tabs)}"
        name = tabs.setdefault(tab, f"web {len(tabs) + 1}")
        cookie, page_key = value_of(socket.headers.get("cookie", ""), cookie_name), socket.scope["subprotocols"][1]
        await until_signed_out(PageConnection(tasks, once, socket, name), lambda: keys.knows(cookie, page_key))

    routes = [
        *(Route(path, static) for path in FILES),
        Route("/static/{path:path}", static),
        Route("/diagram", diagram),
        Route("/enter", challenge),
        Route("/enter", enter, methods=["POST"]),
        Route("/session", known),
        *uploads.upload_routes(tasks),
        WebSocketRoute("/live", live),
    ]
    return Guard(Starlette(routes=routes), hosts, OPEN, cookie_name, keys.knows, own_address=own_address)


def serve_file(path: str, request: Request) -> Response:
    """Serve a file of the page, compressed if accepted, or 304 if unchanged."""
    found = _read_file(path)
    if found is None:
        return Response("File not found.\n", 404, media_type="text/plain")
    return _send_file(request, found)


def _send_file(
    request: Request, found: tuple[bytes, bytes | None, str, str], more: Mapping[str, str] = MappingProxyType({})
) -> Response:
    plain, packed, tag, kind = found
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding", **more}
    if request.headers.get("if-none-match") == tag:
        return Response(None, 304, headers)
    if packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, 200, {**headers, "content-encoding": "gzip"}, media_type=kind)
    return Response(plain, 200, headers, media_type=kind)


@lru_cache(maxsize=256)
def _read_file(path: str) -> tuple[bytes, bytes | None, str, str] | None:
    """Return content, its gzip, ETag and type; only names below the folder are found."""
    parts = PurePosixPath(path).parts
    if not parts or any(part in ("..", "/") or "\\" in part or "\0" in part for part in parts):
        return None
    found = STATIC.joinpath(*parts)
    if whole := _read_bundle().get(path):
        data = whole.encode()
    elif found.is_file():
        data = found.read_bytes()
    else:
        return None
    kind = TYPES.get(PurePosixPath(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
    packed = gzip.compress(data, 9, mtime=0) if kind.startswith("text/") or "json" in kind or "svg" in kind else None
    return data, packed, f'"{hashlib.sha256(data).hexdigest()[:20]}"', kind


@lru_cache(maxsize=1)
def _read_bundle() -> dict[str, str]:
    return bundle_modules(lambda name: STATIC.joinpath(*name.split("/")).read_text("utf-8"))
