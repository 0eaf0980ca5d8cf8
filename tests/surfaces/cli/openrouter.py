"""OpenRouter's page for signing in and its exchange of codes for keys, played on the loopback."""

import asyncio
from base64 import urlsafe_b64encode
from hashlib import sha256
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.servers.server_connection import ReceivedRequest, ServerConnection

KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"
MODELS = {"data": [{"id": "openrouter/auto"}]}


class OpenRouter:
    """Whoever opens the page is signed in at once, and sent back with a code; `refuses` sends them back without."""

    def __init__(self, *, refuses: bool = False, answer: tuple[int, Any] | None = None) -> None:
        self.requests: list[ReceivedRequest] = []
        self.pages: list[dict[str, str]] = []
        self._refuses = refuses
        self._answer = answer
        self._challenges: dict[str, str] = {}

    async def __aenter__(self) -> "OpenRouter":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/api/v1"

    def sign_in(self, page: str) -> str:
        """What a person does on the page that a program printed; gives the address that the browser ends at."""
        return self._sent_back(dict(parse_qsl(urlsplit(page).query)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, 0, 0)
        while (request := await connection.request()) is not None:
            self.requests.append(request)
            status, document, headers = self._answered(request)
            await connection.send_document(status, document, headers)
        writer.close()

    def _answered(self, request: ReceivedRequest) -> tuple[int, Any, dict[str, str]]:
        place = urlsplit(request.path)
        match place.path:
            case "/auth":
                return 302, {}, {"location": self._sent_back(dict(parse_qsl(place.query)))}
            case "/api/v1/auth/keys" if request.method == "POST":
                return (*(self._answer or self._exchanged(request.body)), {})
            case "/api/v1/key":
                known = request.headers.get("authorization") == f"Bearer {KEY}"
                return (200, {"data": {}}, {}) if known else (401, {"error": {"message": "User not found."}}, {})
            case "/api/v1/models":
                return 200, MODELS, {}
            case _:
                return 404, {}, {}

    def _sent_back(self, query: dict[str, str]) -> str:
        self.pages.append(query)
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.pages)}"
        self._challenges[code] = query["code_challenge"]
        return f"{query['callback_url']}?{urlencode({'error': 'access_denied'} if self._refuses else {'code': code})}"

    def _exchanged(self, body: dict[str, str]) -> tuple[int, Any]:
        digest = urlsafe_b64encode(sha256(body["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if body["code_challenge_method"] != "S256" or self._challenges.pop(body["code"], "") != digest:
            return 403, {"error": {"message": "Invalid code or code_verifier"}}
        return 200, {"key": KEY, "user_id": "user_1"}
