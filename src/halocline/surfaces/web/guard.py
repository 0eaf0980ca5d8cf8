"""Middleware that every request passes first: checks Host, Origin, session and size.

Other sites' pages can reach a loopback port, so no request is answered for a foreign Host (DNS rebinding) or from a
foreign Origin, WebSockets included. Everything but the page itself needs a session: a cookie, plus the key that only
the page's origin has, in a request header or among the subprotocols of a WebSocket.
"""

from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 32 * 2**20
"""Bytes of a request, such as an uploaded file."""
LARGEST_OPEN_BODY = 4 * 2**10
"""Bytes of a request without a session."""
PAGE_KEY = "x-halocline-key"
"""Header with the page's key."""
KNOWN = "halocline.known"
"""Scope extension to call for a request with a session, which lifts its time limit."""
PROTOCOL = "halocline"
"""Subprotocol of the page's WebSocket; the page's key follows as another subprotocol."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "
        "manifest-src 'self'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_ONE_ONLY = ("host", "origin", "content-length", "sec-fetch-site", "transfer-encoding")
"""Security-relevant headers; duplicates are refused, as they are ambiguous."""
_OURS = ("same-origin", "none")
"""Accepted Sec-Fetch-Site values: our page, or a direct visit. Another port counts as same-site."""


class Guard:
    """`hosts` are the accepted Host names with port; `open_paths` need no session.

    With `own_address`, the local address of a connection is accepted as Host too.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        open_paths: Iterable[str],
        cookie: str,
        knows: Callable[[str, str], bool],
        *,
        own_address: bool = False,
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._open = tuple(open_paths)
        self._cookie = cookie
        self._knows = knows
        self._own_address = own_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif refused := self._refused(scope):
            await _refuse_request(*refused, scope, receive, send)
        else:
            is_open = self._is_open(scope)
            if not is_open and (be_patient := (scope.get("extensions") or {}).get(KNOWN)):
                be_patient()
            most = LARGEST_OPEN_BODY if is_open else LARGEST_BODY
            await self._app(scope, _bound_body(receive, most), _with_headers(send) if scope["type"] == "http" else send)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers, is_open = _single_headers(scope), self._is_open(scope)
        if headers is None:
            return 400, "Malformed request."
        if not self._is_ours(headers.get("host", ""), scope):
            return 421, "Unknown host name. Allow it with: halo web --allow-host NAME"
        origin = headers.get("origin")
        safe = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if (origin is not None or not safe) and not self._is_ours((origin or "").partition("://")[2], scope):
            return 403, "Cross-site request refused."
        if not (is_open and safe) and headers.get("sec-fetch-site", "none") not in _OURS:
            return 403, "Cross-site request refused."
        if int(headers.get("content-length") or 0) > (LARGEST_OPEN_BODY if is_open else LARGEST_BODY):
            return 413, "The request is too large."
        if not is_open and not self._knows(
            value_of(headers.get("cookie", ""), self._cookie), _page_key(scope, headers)
        ):
            return 401, "Open the address that Halocline printed when it started."
        return None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        if host in self._hosts:
            return True
        address, port = scope.get("server") or ("", 0)
        shown = f"[{address}]" if ":" in address else address
        return self._own_address and bool(address) and host == f"{shown}:{port}"

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"]
        return scope["type"] == "http" and any(path == one or path.startswith(f"{one}/") for one in self._open)


def _single_headers(scope: Scope) -> dict[str, str] | None:
    """Return headers by name; None if a security-relevant one is duplicated or invalid."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in found and key in _ONE_ONLY:
            return None
        found[key] = f"{found[key]}; {value.decode('latin-1')}" if key in found else value.decode("latin-1")
    length = found.get("content-length") or "0"
    return found if length.isascii() and length.isdecimal() and len(length) < 16 else None


def _page_key(scope: Scope, headers: dict[str, str]) -> str:
    if scope["type"] == "http":
        return headers.get(PAGE_KEY, "")
    spoken = scope.get("subprotocols") or []
    return str(spoken[1]) if len(spoken) == 2 and spoken[0] == PROTOCOL else ""


def value_of(header: str, name: str) -> str:
    """Return the value of a cookie in a header, or an empty string."""
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


async def _refuse_request(status: int, why: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4000 + status, "reason": why})
        return
    # The body is not read, so close the connection.
    await PlainTextResponse(why + "\n", status, HEADERS | {"connection": "close"})(scope, receive, send)


def _with_headers(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", ())
            names = {name for name, _ in own}
            message["headers"] = [*own, *(row for row in extra if row[0] not in names)]
        await send(message)

    return hardened


def _bound_body(receive: Receive, most: int) -> Receive:
    """Cut off a body that exceeds the limit, as its length may be undeclared."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b"")) if message["type"] == "http.request" else 0
        return message if taken <= most else {"type": "http.disconnect"}

    return bounded
