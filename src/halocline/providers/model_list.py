"""Ask a server for its models: the cheapest request that needs a valid key. Generates nothing and costs nothing."""

from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from halocline.net.http import HttpClient
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.providers.auth.accounts import account_of
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import classify_refusal, describe_failure

_LARGEST = 16_000_000
_NOT_THERE = frozenset({404, 405, 501})


def gives_no_list(error: ModelError) -> bool:
    """True if a server has no model list, or none for this key; neither means that the key is wrong."""
    return error.status in _NOT_THERE | {403} and error.kind is not ModelErrorKind.PROXY


class ModelDirectory:
    """The model list of one server. Every request may raise ModelError; the caller closes it."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raise UsageError when the base URL is invalid."""
        self._endpoint = endpoint
        anthropic = endpoint.family == "anthropic"
        self._path = "/v1/models" if anthropic else "/models"
        self._pages = {"anthropic": "?limit=1000", "gemini": "?pageSize=1000"}.get(endpoint.family, "")
        self._client = HttpClient(endpoint.url.removesuffix("/v1") if anthropic else endpoint.url, endpoint.network)

    @property
    def host(self) -> str:
        return self._client.host

    async def close(self) -> None:
        await self._client.close()

    async def knows_key(self) -> bool:
        """Check the key where the model list is public. False when the vendor has no request for that."""
        path = account_of(self._endpoint.vendor).check_path
        if not (path and self._endpoint.key):
            return False
        try:
            await self._get(path)
        except ModelError as error:
            if error.status in _NOT_THERE:
                return False
            raise
        return True

    async def refuses_others(self) -> bool:
        """True if the model list, which the key could read, is refused without it: it was really looked at."""
        if not self._endpoint.key:
            return False
        without = ModelDirectory(replace(self._endpoint, key="", key_source=""))
        try:
            await without.names()
        except (ModelError, UsageError) as error:
            return isinstance(error, ModelError) and error.kind is ModelErrorKind.AUTH
        finally:
            await without.close()
        return False

    async def names(self) -> list[str]:
        """List the model names, as requests use them."""
        document = await self._get(self._path + self._pages)
        if isinstance(document, dict):  # Gemini has `models` with `name`, the others `data` with `id`
            document = document.get("data", document.get("models"))
        if not isinstance(document, list):  # Together sends a bare one
            raise describe_failure("no_list", who=self._endpoint.vendor.title)
        rows = [row for row in document if isinstance(row, dict)]
        return [str(row.get("id") or row.get("name", "")).removeprefix("models/") for row in rows]

    async def has(self, model: str) -> bool:
        """True if the server knows a name that is not in its list, such as an alias."""
        gemini_tuned = self._endpoint.family == "gemini" and "/" in model
        path = f"/{quote(model)}" if gemini_tuned else f"{self._path}/{quote(model)}"
        try:
            await self._get(path)
        except ModelError as error:
            if error.status in (400, 403, *_NOT_THERE):
                return False
            raise
        return True

    async def _get(self, path: str) -> Any:
        if self._endpoint.family == "sap":  # its key is for the address in the key alone
            raise ModelError(ModelErrorKind.NOT_FOUND, "SAP AI Core has no list for a key.", status=404)
        response = await self._client.get(path, await self._endpoint.request_headers({"accept": "application/json"}))
        body = await response.read(_LARGEST)
        if response.status != 200:
            raise classify_refusal(response.status, body[:65_536], response.headers, self._endpoint)
        try:
            return json_input.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise describe_failure("no_list", who=self._endpoint.vendor.title) from None
