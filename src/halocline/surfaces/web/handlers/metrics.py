"""`/metrics`: figures of all tasks for Prometheus, with a token of its own."""

import asyncio
import hmac
import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from halocline.client.storage import CONTENT_TYPE, MetricsCollector
from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError

PATH = "/metrics"


def read_token(file: str) -> str:
    """Return the token in a file; empty without a file. Raises UsageError."""
    if not file:
        return ""
    try:
        token = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The token in {file} cannot be read: {error}.", "Name a file with one line.") from error
    if not token:
        raise UsageError(f"{file} is empty.", "Write a token into it, such as that of: openssl rand -hex 24")
    return token


class MetricsRoute:
    """Answers requests that have the token."""

    def __init__(self, client: Client, token: str) -> None:
        self._client = client
        self._token = token
        self._collector = MetricsCollector(client.home.tasks, time.time())

    async def answer(self, request: Request) -> Response:
        if not self._has_token(request):
            return PlainTextResponse("Give the token: Authorization: Bearer …\n", 401, {"www-authenticate": "Bearer"})
        text = await asyncio.to_thread(self._render)
        return Response(text, headers={"cache-control": "no-store"}, media_type=CONTENT_TYPE)

    def _render(self) -> str:
        tasks = self._client.tasks
        opened, waiting = len(tasks.list_open()), len(tasks.list_waiting())
        return self._collector.render({"open": opened, "waiting": waiting})

    def _has_token(self, request: Request) -> bool:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        return hmac.compare_digest(given, self._token.encode())
