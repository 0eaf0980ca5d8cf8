"""Signing in at a server with OAuth, by the SDK: discovery, registration, PKCE, refreshing.

What must stay true: tokens are in the store of keys and nowhere else; a page is only opened for a person who asked to
sign in; in a task, a server that wants one says so and is not there. What was found out about the sign-in is kept with
the tokens, as a later process has to refresh them without finding it out again.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)

from halocline.mcp.connection.setup import Secrets, SignInNeeded, Visitor
from halocline.ports.mcp_servers import OAuth
from halocline.protocol import json_input
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject, Value

EARLIER = 60.0
"""Seconds before its end at which a token counts as over."""


class Kept(Value, frozen=True):
    """What is stored of a sign-in. `expires` is in Unix seconds; 0: nobody said."""

    tokens: JsonObject | None = None
    client: JsonObject | None = None
    metadata: JsonObject | None = None
    expires: float = 0.0


def secret_name(server: str, url: str) -> str:
    """Under which name a sign-in is stored: tokens are for one server at one address."""
    parts = urlsplit(url)
    return f"mcp:{server}@{parts.scheme}://{parts.netloc}{parts.path}"


class SignIn(OAuthClientProvider):
    """The SDK's provider, with our store behind it. `asked` says so once a person was needed."""

    def __init__(self, server: str, url: str, oauth: OAuth, secrets: Secrets, visitor: Visitor | None) -> None:
        self.asked = ""
        self._server = server
        self._visitor = visitor
        self._store = _Store(secret_name(server, url), secrets, oauth, visitor.url if visitor else "", self)
        back = visitor.url if visitor else "http://localhost/callback"
        about = {
            "client_name": "Halocline",
            "redirect_uris": [back],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": " ".join(oauth.scopes) or None,
            "token_endpoint_auth_method": "client_secret_post" if oauth.client_secret else "none",
        }
        metadata = OAuthClientMetadata.model_validate(about)
        super().__init__(url, metadata, self._store, self._open, self._back)

    async def _initialize(self) -> None:
        await super()._initialize()
        kept = await self._store.kept()
        if kept.expires:
            self.context.token_expiry_time = kept.expires - EARLIER
        if kept.metadata:
            self.context.oauth_metadata = OAuthMetadata.model_validate(kept.metadata)

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Where nobody can sign in and nobody has, a server is not asked to register us."""
        if not self.context.is_token_valid():
            self._initialized = False  # another process may have refreshed it meanwhile
        flow = super()._auth_flow(request)
        if self._visitor is None and not (await self._store.kept()).tokens:
            flow = self._refused(request)
        try:
            sent = await anext(flow)
            while True:
                sent = await flow.asend((yield sent))
        except StopAsyncIteration:
            return

    async def _refused(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code == 401:
            await self._open(str(request.url))

    async def _open(self, url: str) -> None:
        self.asked = f"it wants you to sign in: halo mcp login {self._server}"
        if not url.startswith(("https://", "http://")):
            self.asked = "it wants you to open something that is no web page, to sign in"
            raise SignInNeeded(self.asked)
        if self._visitor is None:
            raise SignInNeeded(self.asked)
        self._visitor.show(url)

    async def _back(self) -> AuthorizationCodeResult:
        assert self._visitor is not None
        brought = await self._visitor.visit()
        if "code" not in brought:
            why = brought.get("error_description") or brought.get("error") or "it was called off"
            self.asked = f"the sign-in gave nothing: {why[:200]}"
            raise SignInNeeded(self.asked)
        return AuthorizationCodeResult.model_validate(
            {name: brought[name] for name in ("code", "state", "iss") if name in brought}
        )


class _Store:
    """The SDK's `TokenStorage` over our keys. A client that was registered for another way back is not used."""

    def __init__(self, name: str, secrets: Secrets, oauth: OAuth, back: str, sign_in: SignIn) -> None:
        self._name = name
        self._secrets = secrets
        self._oauth = oauth
        self._back = back
        self._sign_in = sign_in

    async def kept(self) -> Kept:
        found = await asyncio.to_thread(self._secrets.get, self._name)
        try:
            return json_input.decode(found.reveal(), type=Kept) if found else Kept()
        except msgspec.MsgspecError:
            return Kept()

    async def get_tokens(self) -> OAuthToken | None:
        kept = await self.kept()
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
        kept = (await self.kept()).client
        if kept is None or (self._back and self._back not in kept.get("redirect_uris", ())):
            return None
        return OAuthClientInformationFull.model_validate(kept)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._keep(client=_as_json(client_info))

    async def _keep(self, **changed: Any) -> None:
        kept = msgspec.structs.replace(await self.kept(), **changed)
        text = msgspec.json.encode(kept).decode()
        await asyncio.to_thread(self._secrets.put, self._name, Secret(text))


def _as_json(model: Any) -> JsonObject:
    made: JsonObject = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made
