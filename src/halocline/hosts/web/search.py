"""Asks one search engine, once, at addresses that were judged. Its key goes to it alone, and into no text."""

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

FORBIDDEN = "{title} refused the key (status {status}). The user has to correct it: halo login {name}"
NO_JSON = "{title} gives no JSON (status 403). Its settings need: search: formats: [html, json]"
BUSY = "{title} takes no more requests for now (status 429). Wait, or go on without it."


class KeyRefused(ToolFailure):
    """The engine does not take the key."""


class EngineSearch:
    """Fulfils `ports.web_search.WebSearch`. `key` finds the engine's key when it is asked."""

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
        headers = {"accept": "application/json", "accept-encoding": "gzip", **await self._proof()}
        if body:
            headers["content-type"] = "application/json"
        answer = await self._web.ask(self.url + asked.path, tuple(addresses), headers, body)
        return tuple(self._engine.read(self._checked(answer)))

    async def _proof(self) -> dict[str, str]:
        name, form = self._engine.key_header
        if not name:
            return {}
        key = await self._key()
        if key is None:
            raise ToolFailure(
                f"There is no key for {self.title}. The user has to set {self._engine.key_variable}, or to run: "
                f"halo login {self._engine.name}"
            )
        return {name: form.format(key.reveal())}

    def _checked(self, answer: WebAnswer) -> Any:
        """The document that it sent. Raises ToolFailure."""
        title, name, status = self.title, self._engine.name, answer.status
        if status == 403 and not self._engine.key_header[0]:
            raise ToolFailure(NO_JSON.format(title=title))
        if status in (401, 403):
            raise KeyRefused(FORBIDDEN.format(title=title, status=status, name=name))
        if status == 429:
            raise ToolFailure(BUSY.format(title=title))
        if status != 200:
            raise ToolFailure(f"{title} answered with status {status}, and no results.")
        try:
            return json_input.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ToolFailure(f"{title} did not answer with JSON. Is {self.url} its address?") from None
