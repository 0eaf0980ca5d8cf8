"""Queries one search engine at addresses that the gate approved. The key is sent only to it and appears in no text."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from halocline.hosts.web.engines import Engine
from halocline.hosts.web.fetch import LocalWeb
from halocline.ports.host import WebAnswer
from halocline.ports.web_search import Found, WebQuery
from halocline.protocol import json_input
from halocline.protocol.errors import ToolFailure
from halocline.protocol.secrets.secret import Secret

FORBIDDEN = "{title} rejected the API key (status {status}). Ask the user to correct it: halo login {name}"
NO_JSON = "{title} does not return JSON (status 403). Its settings need: search: formats: [html, json]"
BUSY = "{title} rate-limited the request (status 429). Wait, or continue without searching."


class KeyRefused(ToolFailure):
    """The engine rejected the key."""


class EngineSearch:
    """Implements `ports.web_search.WebSearch`. `key` finds the engine's key for each query."""

    def __init__(self, engine: Engine, url: str, web: LocalWeb, key: Callable[[], Awaitable[Secret | None]]) -> None:
        self.title = engine.title
        self.url = (url or engine.url).rstrip("/")
        self.host = urlsplit(self.url).netloc
        self._engine = engine
        self._web = web
        self._key = key

    async def find(self, query: WebQuery, addresses: Sequence[str]) -> tuple[Found, ...]:
        asked = self._engine.ask(query)
        body = b"" if asked.body is None else msgspec.json.encode(asked.body)
        headers = {"accept": "application/json", "accept-encoding": "gzip", **await self._build_key_header()}
        if body:
            headers["content-type"] = "application/json"
        answer = await self._web.ask(self.url + asked.path, tuple(addresses), headers, body)
        return tuple(self._engine.read(self._checked(answer)))

    async def _build_key_header(self) -> dict[str, str]:
        name, form = self._engine.key_header
        if not name:
            return {}
        key = await self._key()
        if key is None:
            raise ToolFailure(
                f"{self.title} needs an API key. Ask the user to set {self._engine.key_variable} or to run: "
                f"halo login {self._engine.name}"
            )
        return {name: form.format(key.reveal())}

    def _checked(self, answer: WebAnswer) -> Any:
        """Decode the response. Raises ToolFailure."""
        title, name, status = self.title, self._engine.name, answer.status
        if status == 403 and not self._engine.key_header[0]:
            raise ToolFailure(NO_JSON.format(title=title))
        if status in (401, 403):
            raise KeyRefused(FORBIDDEN.format(title=title, status=status, name=name))
        if status == 429:
            raise ToolFailure(BUSY.format(title=title))
        if status != 200:
            raise ToolFailure(f"{title} failed with status {status}; there are no results.")
        try:
            return json_input.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ToolFailure(f"{title} did not return JSON. Check that {self.url} is its address.") from None
