"""Access to SAP AI Core: a service key brings a token for some hours, and the address of a deployment.

What must stay true: the secret goes only to the address in the key itself, and a token only to the server that the key
or the person names.
"""

import os
import time
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec.structs import replace

from halocline import providers
from halocline.net.address import address_of
from halocline.net.http import fetch
from halocline.protocol import json_input
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import unreadable_payload
from halocline.providers.tokens import Token, Tokens

T = TypeVar("T")

GROUP = "AICORE_RESOURCE_GROUP"
_DEPLOYMENTS = "/v2/lm/deployments?" + urlencode({"scenarioId": "orchestration", "status": "RUNNING"})


class _Addresses(Value, frozen=True):
    AI_API_URL: str


class ServiceKey(Value, frozen=True):
    """The parts of a service key that access needs. `url` gives tokens."""

    clientid: str
    clientsecret: str
    url: str
    serviceurls: _Addresses


class _Answer(Value, frozen=True):
    access_token: str
    expires_in: float = 0.0


class _Deployment(Value, frozen=True, rename="camel"):
    deployment_url: str = ""
    start_time: str = ""


class _Deployments(Value, frozen=True):
    resources: tuple[_Deployment, ...] = ()


class Access:
    """The way to the orchestration deployment of one resource group."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._tokens = Tokens(self._ask_for_token)
        self._open: Endpoint | None = None

    async def open(self) -> Endpoint:
        """Return the deployment's endpoint, whose requests carry tokens. Raises ModelError."""
        if self._open is None:
            at = self._endpoint
            headers = {**at.headers, "ai-resource-group": os.environ.get(GROUP) or "default"}
            base_url = at.base_url or self._read_key().serviceurls.AI_API_URL
            at = replace(at, key="", tokens=self._tokens, base_url=base_url, headers=headers)
            self._open = replace(at, base_url=await self._find_deployment(at))
        return self._open

    def _read_key(self) -> ServiceKey:
        try:
            return json_input.decode(self._endpoint.key, ServiceKey)
        except msgspec.DecodeError:
            raise providers.errors.describe_failure("no_service_key") from None

    async def _ask_for_token(self) -> Token:
        key = self._read_key()
        form = {"grant_type": "client_credentials", "client_id": key.clientid, "client_secret": key.clientsecret}
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = await self._fetch(_Answer, f"{key.url.rstrip('/')}/oauth/token", headers, urlencode(form).encode())
        return Token(Secret(answer.access_token), time.time() + answer.expires_in)

    async def _find_deployment(self, at: Endpoint) -> str:
        """Return the address of the newest running deployment. Raises ModelError."""
        headers = await at.request_headers()
        found = await self._fetch(_Deployments, at.url.removesuffix("/v2") + _DEPLOYMENTS, headers)
        running = sorted((each for each in found.resources if each.deployment_url), key=lambda each: each.start_time)
        if not running:
            group = at.headers["ai-resource-group"]
            raise providers.errors.describe_failure("no_deployment", group=group, variable=GROUP)
        where = running[-1].deployment_url
        if address_of(where) != address_of(at.url):
            there, own = urlsplit(where).netloc, urlsplit(at.url).netloc
            raise providers.errors.describe_failure("deployed_elsewhere", there=there, own=own)
        return where

    async def _fetch(self, kind: type[T], url: str, headers: dict[str, str], body: bytes | None = None) -> T:
        """Fetch a JSON document. Raises ModelError."""
        answer = await fetch(url, self._endpoint.network, {**headers, "accept": "application/json"}, body)
        if answer.status != 200:
            raise providers.errors.classify_refusal(answer.status, answer.body, answer.headers, self._endpoint)
        try:
            return msgspec.convert(json_input.decode(answer.body), kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise unreadable_payload(self._endpoint) from None
