"""Servers of sign-ins that describe themselves in forms that no one reported yet: ours signs in at each."""

import base64
import json
from urllib.parse import parse_qs, unquote, urlencode

import pytest
from mcp.server.mcpserver import MCPServer
from tests.mcp.http import serving
from tests.mcp.oauth import port
from tests.mcp.test_sign_in import Browser, desk as desk

pytestmark = pytest.mark.slow
SECRET = "s3cr:t/% ü"
METHODS = "token_endpoint_auth_methods_supported"
BY_METHODS = {
    "Basic alone": (["client_secret_basic"], "basic"),
    "the body alone": (["client_secret_post"], "body"),
    "both": (["client_secret_post", "client_secret_basic"], "basic"),
    "none of its words": (None, "basic"),
    "an empty list": ([], "basic"),
    "the body, or nothing": (["none", "client_secret_post"], "body"),
    "a key, or Basic": (["private_key_jwt", "client_secret_basic"], "basic"),
    "a key, or the body": (["client_secret_jwt", "private_key_jwt", "client_secret_post"], "body"),
    "Basic twice": (["client_secret_basic", "client_secret_basic"], "basic"),
    "the body before nothing": (["client_secret_post", "none"], "body"),
}
"""What a server says of how it takes a secret, and how it gets it."""
AT_ROOT = {
    "its own origin": {},
    "its origin with a slash": {"issuer": "{at}/"},
    "a path of its origin": {"issuer": "{at}/tenant"},
    "no scopes": {"scopes_supported": None},
    "other scopes": {"scopes_supported": ["mcp", "offline_access"]},
    "no registration": {"registration_endpoint": None},
    "no grants": {"grant_types_supported": None},
    "fields that no one knows": {"x-vendor": {"a": [1]}, "logo": "x"},
    "other addresses": {"authorization_endpoint": "{at}/other/authorize", "token_endpoint": "{at}/other/token"},
    "no metadata at all": None,
}
"""How the metadata of a server of 2025-03-26 differ, which stand at its root."""


class Place:
    """An MCP server and the server of its sign-in at one address; `asked` is what its tokens were asked for with."""

    def __init__(self, at, changes, *, says_where):
        self.at, self.changes, self.says_where = at, changes, says_where
        self.asked = []
        server = MCPServer("guarded")
        server.tool(name="whoami", description="Who is there.")(lambda: "you")
        self.inner = server.streamable_http_app()

    @property
    def metadata(self):
        ends = {"issuer": "", "authorization_endpoint": "/authorize", "token_endpoint": "/token"}
        told = {name: f"{self.at}{end}" for name, end in ends.items()} | {
            "registration_endpoint": f"{self.at}/register"
        }
        told |= {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
        told |= json.loads(json.dumps(self.changes).replace("{at}", self.at))
        return {name: value for name, value in told.items() if value is not None}

    async def __call__(self, scope, receive, send):
        headers = {name.decode(): value.decode() for name, value in scope.get("headers", ())}
        if scope["type"] != "http" or (scope["path"] == "/mcp" and headers.get("authorization") == "Bearer token"):
            await self.inner(scope, receive, send)
            return
        body = b""
        while scope["method"] == "POST" and (part := await receive()):
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        status, answer, more = self.answer(scope, headers, body.decode())
        fields = [(b"content-type", b"application/json"), *((k.encode(), v.encode()) for k, v in more.items())]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    def answer(self, scope, headers, body):
        path, query = scope["path"], {k: v[0] for k, v in parse_qs(scope["query_string"].decode()).items()}
        if path == "/mcp":
            where = f'Bearer resource_metadata="{self.at}/.well-known/oauth-protected-resource/mcp"'
            return 401, {}, {"www-authenticate": where if self.says_where else "Bearer"}
        if path.startswith("/.well-known/oauth-protected-resource") and self.says_where:
            return 200, {"resource": f"{self.at}/mcp", "authorization_servers": [self.at]}, {}
        if path == "/.well-known/oauth-authorization-server" and self.changes is not None:
            return 200, self.metadata, {}
        if path.endswith("/authorize"):
            back = {"code": "c", "state": query["state"]}
            return 302, {}, {"location": f"{query['redirect_uri']}?{urlencode(back)}"}
        if path.endswith("/token"):
            self.asked.append((headers.get("authorization", ""), {k: v[0] for k, v in parse_qs(body).items()}))
            return 200, {"access_token": "token", "token_type": "Bearer", "expires_in": 3600}, {}
        if path == "/register":
            return 201, {**json.loads(body), "client_id": "registered"}, {}
        return 404, {}, {}


async def sign_in(desk, changes, *, says_where, **more):
    number = port()
    place = Place(f"http://localhost:{number}", changes, says_where=says_where)
    async with serving(place, number):
        signed = await desk(f"{place.at}/mcp", **more).signed_in("guarded", Browser().show, limit=20)
    assert (signed.ok, signed.error) == (True, "")
    return place.asked[0]


@pytest.mark.parametrize("title", BY_METHODS)
async def test_a_secret_goes_where_the_server_takes_it(desk, title):
    methods, way = BY_METHODS[title]
    given = {"oauth": {"clientId": "the client", "clientSecret": SECRET}}
    header, form = await sign_in(desk, {METHODS: methods}, says_where=True, **given)
    if way == "basic":
        name, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
        assert (unquote(name.replace("+", " ")), unquote(secret.replace("+", " "))) == ("the client", SECRET)
    else:
        assert (header, form["client_secret"]) == ("", SECRET)
    assert ("client_secret" in form) is (way == "body")


@pytest.mark.parametrize("title", AT_ROOT)
async def test_metadata_at_the_root_serve_in_any_form(desk, title):
    given = {"oauth": {"clientId": "mine"}} if title == "no registration" else {}
    _, form = await sign_in(desk, AT_ROOT[title], says_where=False, **given)
    assert form["client_id"] == ("mine" if given else "registered")
