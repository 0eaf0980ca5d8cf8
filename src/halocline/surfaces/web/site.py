"""The routes: the page and its files, sign-in, and the WebSocket."""

import asyncio

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from halocline.surfaces.web import static_files
from halocline.surfaces.web.auth import COOKIE, Keys
from halocline.surfaces.web.connection import PageConnection
from halocline.surfaces.web.entry import open_session, register_browser, until_signed_out
from halocline.surfaces.web.guard import PROTOCOL, Guard, value_of
from halocline.surfaces.web.handlers import metrics
from halocline.surfaces.web.idempotency import IdempotencyKeys
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.task_view.views import TaskViews
from halocline.surfaces.web.uploads import Uploads

OPEN = ("/", "/worker.js", "/diagram", "/enter", "/favicon.ico")
"""Paths without a session, beside the page's own files: the page and sign-in."""
LONGEST_FRAME = 8 * 2**20
"""Bytes of one frame from a page."""
LONGEST_TAB = 64
"""Characters of a tab's name."""
WRONG_TRY = 0.3
"""Seconds to delay the answer to a wrong key."""


def build_site(
    tasks: OpenTasks, keys: Keys, hosts: tuple[str, ...], port: int, *, own_address: bool = False, token: str = ""
) -> ASGIApp:
    """Build the guarded application. `hosts` are the accepted Host names with port, `token`: for the metrics."""
    cookie_name = f"{COOKIE}-{port}"  # cookies ignore the port: two servers must not share one
    sign_in, live, uploads = SignInRoutes(keys, cookie_name), LivePages(tasks, keys, cookie_name), Uploads(tasks)
    own = f"/{static_files.read_version()}/static"
    routes = [
        *(Route(path, static_files.serve_static) for path in static_files.FILES),
        Route(own + "/{path:path}", static_files.serve_static),
        Route("/diagram", static_files.serve_diagram),
        Route("/enter", sign_in.challenge),
        Route("/enter", sign_in.enter, methods=["POST"]),
        Route("/session", sign_in.confirm),
        Route("/browser", sign_in.register, methods=["POST"]),
        Route("/upload", uploads.upload, methods=["POST"]),
        Route("/blob/{name}", uploads.picture),
        Route("/export/{name}", uploads.export),
        *([Route(metrics.PATH, metrics.MetricsRoute(tasks.client, token).answer)] if token else []),
        WebSocketRoute("/live", live.serve),
    ]
    unguarded = (*OPEN, own, *([metrics.PATH] if token else []))
    return Guard(Starlette(routes=routes), hosts, unguarded, cookie_name, keys.knows, own_address=own_address)


class SignInRoutes:
    """Sign-in over HTTP."""

    def __init__(self, keys: Keys, cookie_name: str) -> None:
        self._keys = keys
        self._cookie_name = cookie_name

    async def challenge(self, request: Request) -> Response:
        return JSONResponse({"challenge": self._keys.challenge()}, headers={"cache-control": "no-store"})

    async def enter(self, request: Request) -> Response:
        try:
            body = await request.body()
        except ClientDisconnect:  # the page left, or sent too much
            return self._refuse(413)
        session = await open_session(self._keys, body, request.headers)
        if session is None:
            await asyncio.sleep(WRONG_TRY)
            return self._refuse(403)
        response = JSONResponse({"entered": True, "key": session.page_key}, headers={"cache-control": "no-store"})
        # Behind an encrypting proxy only the page knows how it was reached; its origin was checked by the guard.
        secure = request.url.is_secure or request.headers.get("origin", "").startswith("https://")
        response.set_cookie(
            self._cookie_name, session.cookie, httponly=True, samesite="strict", path="/", secure=secure
        )
        return response

    async def confirm(self, request: Request) -> Response:
        """Tell a page that its session is valid: the guard let the request through."""
        return Response(None, 204)

    async def register(self, request: Request) -> Response:
        """Keep the public key of a signed-in browser."""
        try:
            body = await request.body()
        except ClientDisconnect:
            return self._refuse(413)
        cookie = request.cookies.get(self._cookie_name, "")
        kept = await register_browser(self._keys, cookie, body, request.headers)
        return Response(None, 204 if kept else 400)

    def _refuse(self, status: int) -> Response:
        return JSONResponse({"entered": False, "pairs": self._keys.pairs}, status)


class LivePages:
    """The WebSockets of pages. A tab keeps its client name when it reconnects."""

    def __init__(self, tasks: OpenTasks, keys: Keys, cookie_name: str) -> None:
        self._tasks = tasks
        self._keys = keys
        self._cookie_name = cookie_name
        self._once = IdempotencyKeys()
        self._views = TaskViews(tasks)
        self._tabs: dict[str, str] = {}

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept(subprotocol=PROTOCOL)
        tab = socket.query_params.get("page", "")[:LONGEST_TAB] or f"unnamed {len(self._tabs)}"
        name = self._tabs.setdefault(tab, f"web {len(self._tabs) + 1}")
        cookie = value_of(socket.headers.get("cookie", ""), self._cookie_name)
        page_key = socket.scope["subprotocols"][1]
        page = PageConnection(self._tasks, self._views, self._once, socket, name)
        await until_signed_out(page, lambda: self._keys.knows(cookie, page_key))
