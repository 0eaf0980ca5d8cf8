"""OAuth sign-in to a server through the SDK: discovery, registration, PKCE, refresh.

What must stay true: tokens are in the key store and nowhere else; a page opens only for a person who asked to sign in;
in a task, a server that needs a sign-in says so and stays unavailable. Discovery results are stored with the tokens,
because a later process must refresh them without discovering again.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyHttpUrl

from halocline.mcp.connection.setup import Secrets, SignInNeeded, Visitor
from halocline.ports.mcp_servers import OAuth
from halocline.protocol import json_input
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject, Value

BASIC, POST = "client_secret_basic", "client_secret_post"
EARLIER = 60.0
"""Seconds before its expiry at which a token counts as expired."""


class Kept(Value, frozen=True):
    """A stored sign-in. `expires` is in Unix seconds; 0 when unknown."""

    tokens: JsonObject | None = None
    client: JsonObject | None = None
    metadata: JsonObject | None = None
    expires: float = 0.0


def secret_name(server: str, url: str) -> str:
    """Return the name a sign-in is stored under: tokens belong to one server at one address."""
    parts = urlsplit(url)
    return f"mcp:{server}@{parts.scheme}://{parts.netloc}{parts.path}"


class SignIn(OAuthClientProvider):
    """The SDK's provider over our store. `asked` is set once a person has to act, and says what to do."""

    def __init__(self, server: str, url: str, oauth: OAuth, secrets: Secrets, visitor: Visitor | None) -> None:
        self.asked = ""
        self._server = server
        self._visitor = visitor
        self._issuer = ""
        self._has_secret = oauth.client_secret is not None
        self._store = _Store(secret_name(server, url), secrets, oauth, visitor.url if visitor else "", self)
        back = visitor.url if visitor else "http://localhost/callback"
        about = {
            "client_name": "Halocline",
            "redirect_uris": [back],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": " ".join(oauth.scopes) or None,
            "token_endpoint_auth_method": BASIC if oauth.client_secret else "none",
        }
        metadata = OAuthClientMetadata.model_validate(about)
        super().__init__(url, metadata, self._store, self._open, self._back)

    async def _initialize(self) -> None:
        await super()._initialize()
        kept = await self._store.load()
        if kept.expires:
            self.context.token_expiry_time = kept.expires - EARLIER
        if kept.metadata:
            self.context.oauth_metadata = OAuthMetadata.model_validate(kept.metadata)

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Do not register with a server when no one is signed in and no one can sign in now."""
        if not self.context.is_token_valid():
            self._initialized = False  # another process may have refreshed it
        self._issuer = ""
        flow = super()._auth_flow(request)
        if self._visitor is None and not (await self._store.load()).tokens:
            flow = self._detect_sign_in(request)
        try:
            sent = await anext(flow)
            while True:
                response = yield sent
                sent = await flow.asend(await self._accept_issuer(sent, response))
        except StopAsyncIteration:
            return

    async def _accept_issuer(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Let a server of 2025-03-26, whose metadata is at its root, name any issuer of its own origin."""
        if self.context.auth_server_url or "/.well-known/" not in request.url.path or response.status_code != 200:
            return response
        metadata = json_input.decode_or(None, await response.aread(), JsonObject)
        if metadata is None:
            return response
        issuer, origin = str(metadata.get("issuer")), self._expected_issuer()
        if urlsplit(issuer)[:2] != urlsplit(origin)[:2] or issuers_match(issuer, origin):
            return response
        self._issuer = issuer
        return httpx2.Response(200, json=metadata | {"issuer": origin}, request=request)

    def _choose_authentication(self) -> None:
        """Send the secret of a given client as the server takes it; without its word by HTTP Basic (RFC 6749)."""
        if self._has_secret and self.context.client_info is not None:
            known = self.context.oauth_metadata
            offered = (known and known.token_endpoint_auth_methods_supported) or [BASIC]
            self.context.client_info.token_endpoint_auth_method = BASIC if BASIC in offered else POST

    async def _exchange_token_authorization_code(self, auth_code: str, code_verifier: str) -> httpx2.Request:
        self._choose_authentication()
        return await super()._exchange_token_authorization_code(auth_code, code_verifier)

    async def _refresh_token(self) -> httpx2.Request:
        self._choose_authentication()
        return await super()._refresh_token()

    async def _detect_sign_in(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code == 401:
            await self._open(str(request.url))

    async def _open(self, url: str) -> None:
        self.asked = f"it needs you to sign in; run: halo mcp login {self._server}"
        if not url.startswith(("https://", "http://")):
            self.asked = "its sign-in address is not a web page (http or https)"
            raise SignInNeeded(self.asked)
        if self._visitor is None:
            raise SignInNeeded(self.asked)
        if self._issuer and self.context.oauth_metadata is not None:
            self.context.oauth_metadata.issuer = AnyHttpUrl(self._issuer)  # the redirect will name it
        self._visitor.show(url)

    async def _back(self) -> AuthorizationCodeResult:
        assert self._visitor is not None
        brought = await self._visitor.wait_for_redirect()
        if "code" not in brought:
            why = brought.get("error_description") or brought.get("error") or "it was canceled"
            self.asked = f"the sign-in failed: {why[:200]}"
            raise SignInNeeded(self.asked)
        return AuthorizationCodeResult.model_validate(
            {name: brought[name] for name in ("code", "state", "iss") if name in brought}
        )


class _Store:
    """The SDK's `TokenStorage` over our keys. Ignores a client registered for another redirect URI."""

    def __init__(self, name: str, secrets: Secrets, oauth: OAuth, back: str, sign_in: SignIn) -> None:
        self._name = name
        self._secrets = secrets
        self._oauth = oauth
        self._back = back
        self._sign_in = sign_in

    async def load(self) -> Kept:
        found = await asyncio.to_thread(self._secrets.get, self._name)
        return json_input.decode_or(Kept(), found.reveal(), Kept) if found else Kept()

    async def get_tokens(self) -> OAuthToken | None:
        kept = await self.load()
        return OAuthToken.model_validate(kept.tokens) if kept.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = time.time() + tokens.expires_in if tokens.expires_in else 0.0
        metadata = self._sign_in.context.oauth_metadata
        await self._keep(
            tokens=_as_json(tokens),
            expires=round(expires),
            metadata=_as_json(metadata) if metadata is not None else None,
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self._oauth.client_id:
            secret = self._oauth.client_secret
            known = {"client_id": self._oauth.client_id, "client_secret": secret.reveal() if secret else None}
            return OAuthClientInformationFull.model_validate(
                known | {"redirect_uris": [self._back or "http://localhost"]}
            )
        kept = (await self.load()).client
        if kept is None or (self._back and self._back not in kept.get("redirect_uris", ())):
            return None
        return OAuthClientInformationFull.model_validate(kept)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._keep(client=_as_json(client_info))

    async def _keep(self, **changed: Any) -> None:
        kept = msgspec.structs.replace(await self.load(), **changed)
        text = msgspec.json.encode(kept).decode()
        await asyncio.to_thread(self._secrets.put, self._name, Secret(text))


def _as_json(model: Any) -> JsonObject:
    made: JsonObject = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made
