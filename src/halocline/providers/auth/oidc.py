"""Sign-in by OpenID Connect: the browser brings a code, which becomes tokens that are renewed when they end.

Specified at https://openid.net/specs/openid-connect-core-1_0.html, with PKCE (RFC 7636). What must stay true: codes and
tokens go only to the server that the person set and that it names over TLS; only what this sign-in asked for is taken.
"""

import asyncio
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Protocol
from urllib.parse import urlencode, urlsplit

import msgspec

from halocline.net.address import address_of
from halocline.net.http import Fetched, fetch
from halocline.net.network import Network
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind, SecretsError, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject, Value
from halocline.protocol.waiting import wait_until
from halocline.providers.catalog.vendor import Oidc, Vendor
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import describe_failure
from halocline.providers.tokens import Token, is_current

_DOCUMENTS = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
_LARGEST = 1_000_000
_PATIENCE, _PAUSE = 1.5, 0.3
"""Seconds to wait for what another process is about to store, and those between two looks."""
_USUAL_LIFE = 3600.0
"""Seconds that a token lasts if the server does not say."""
METHOD = "S256"
"""Of the proof of possession of a code (RFC 7636): the page gets a hash, and the code works only with the secret."""


def hash_verifier(verifier: Secret) -> str:
    """Return the hash of a secret for the page."""
    return urlsafe_b64encode(sha256(verifier.reveal().encode()).digest()).rstrip(b"=").decode()


class SignedIn(Value, frozen=True):
    """A sign-in as it is stored in place of a key. `token_url` renews it."""

    token_url: str
    client: str
    access: str
    expires_at: float
    refresh: str = ""

    @property
    def secrets(self) -> list[Secret]:
        """The tokens, to redact them."""
        return [Secret(token) for token in (self.access, self.refresh) if token]


class _Server(Value, frozen=True):
    authorization_endpoint: str
    token_endpoint: str


class _Answer(Value, frozen=True):
    access_token: str
    expires_in: float = _USUAL_LIFE
    refresh_token: str = ""
    id_token: str = ""


class _Refused(Exception):
    """The server's own words."""


class Exchange:
    """One sign-in at a vendor's server. Holds the secret verifier."""

    def __init__(self, endpoint: Endpoint, oidc: Oidc) -> None:
        self.state = token_urlsafe(24)
        self._vendor, self._network, self._oidc = endpoint.vendor, endpoint.network, oidc
        self._verifier = Secret(token_urlsafe(48))
        self._nonce = token_urlsafe(24)
        self._callback = ""
        self._server = _Server("", "")

    async def find_page(self, callback: str) -> str:
        """Return the page to open in the browser; it redirects to `callback`. Raises ModelError."""
        self._callback, self._server = callback, await self._find_server()
        query = {
            "client_id": self._oidc.client,
            "response_type": "code",
            "scope": self._oidc.scopes,
            "code_challenge": hash_verifier(self._verifier),
            "code_challenge_method": METHOD,
            "redirect_uri": callback,
            "state": self.state,
            "nonce": self._nonce,
        }
        page = self._server.authorization_endpoint
        return f"{page}{'&' if urlsplit(page).query else '?'}{urlencode(query)}"

    async def key_for(self, code: str) -> Secret:
        """Exchange a code for tokens, as what is stored in place of a key. Raises ModelError."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._callback,
            "client_id": self._oidc.client,
            "code_verifier": self._verifier.reveal(),
        }
        try:
            answer = await _ask_for_tokens(self._server.token_endpoint, form, self._network)
        except _Refused as refused:
            raise describe_failure("sign_in_rejected", who=self._vendor.title, reason=refused) from None
        if answer.id_token and not compare_digest(_read_nonce(answer.id_token), self._nonce):
            raise describe_failure("other_sign_in", who=self._vendor.title)
        return encode_sign_in(_make_sign_in(self._server.token_endpoint, self._oidc.client, answer))

    async def _find_server(self) -> _Server:
        _check_address(self._oidc.issuer, self._vendor)
        hint = f"Check issuer under [providers.{self._vendor.name}.sign_in] in settings.toml."
        for path in _DOCUMENTS:
            try:
                status, _, body = await _send(self._oidc.issuer.rstrip("/") + path, {}, self._network)
            except ModelError as error:
                raise ModelError(error.kind, error.text, hint) from error
            if status == 200 and (found := json_input.decode_or(None, body, _Server)):
                for url in (found.authorization_endpoint, found.token_endpoint):
                    _check_address(url, self._vendor)
                return found
        raise ModelError(ModelErrorKind.NOT_FOUND, f"{self._oidc.issuer} does not describe a sign-in.", hint)


def read_sign_in(key: str) -> SignedIn | None:
    """Return a stored sign-in; None for a plain key."""
    return json_input.decode_or(None, key, SignedIn)


def encode_sign_in(found: SignedIn) -> Secret:
    """Return a sign-in as it is stored."""
    return Secret(msgspec.json.encode(found).decode())


class SignInStore(Protocol):
    """Where a sign-in is stored. Raises SecretsError."""

    async def load(self) -> SignedIn | None:
        """Return it as it is stored now."""

    async def keep(self, renewed: SignedIn) -> None:
        """Store it after a renewal."""


class Renewal:
    """Renews one sign-in, which other processes may renew too."""

    def __init__(self, found: SignedIn, vendor: Vendor, network: Network, store: SignInStore) -> None:
        self._newest = found
        self._vendor, self._network, self._store = vendor, network, store
        self._renewing: asyncio.Task[None] | None = None

    async def fetch(self) -> Token:
        """Return a valid token. Raises ModelError."""
        try:
            if not await self._is_current():
                await self._renew_once()
        except SecretsError as error:
            raise ModelError(ModelErrorKind.AUTH, error.text, error.hint) from error
        return Token(Secret(self._newest.access), self._newest.expires_at)

    async def _renew_once(self) -> None:
        """Renew to the end, also if no one waits any more: what the server gave must be stored."""
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())
            self._renewing.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._renewing)

    async def _is_current(self) -> bool:
        """Take over what another process renewed; True if there is a valid token now."""
        stored = await self._store.load()
        if stored and stored.expires_at > self._newest.expires_at:
            self._newest = stored
        return is_current(self._newest.expires_at)

    async def _renew(self) -> None:
        try:
            self._newest = await _renew(self._newest, self._network)
        except _Refused as refused:
            # Another process may have been faster: the server takes a token for a renewal once.
            if not await wait_until(self._is_current, _PATIENCE, _PAUSE):
                who, vendor = self._vendor.title, self._vendor.name
                raise describe_failure("sign_in_ended", who=who, vendor=vendor, reason=refused) from None
            return
        await self._store.keep(self._newest)


async def _renew(found: SignedIn, network: Network) -> SignedIn:
    if not found.refresh:
        raise _Refused("it cannot be renewed.")
    form = {"grant_type": "refresh_token", "refresh_token": found.refresh, "client_id": found.client}
    renewed = _make_sign_in(found.token_url, found.client, await _ask_for_tokens(found.token_url, form, network))
    # A server that sends no new token for the next renewal keeps the old one.
    return msgspec.structs.replace(renewed, refresh=renewed.refresh or found.refresh)


def _make_sign_in(token_url: str, client: str, answer: _Answer) -> SignedIn:
    return SignedIn(token_url, client, answer.access_token, time.time() + answer.expires_in, answer.refresh_token)


async def _ask_for_tokens(url: str, form: Mapping[str, str], network: Network) -> _Answer:
    """Ask for tokens. Raises ModelError, and _Refused with the server's words."""
    status, _, body = await _send(url, form, network)
    answer = json_input.decode_or(None, body, _Answer) if status == 200 else None
    if answer is not None:
        return answer
    fields = json_input.decode_or({}, body, JsonObject)
    words = str(fields.get("error_description") or fields.get("error") or "")[:200]
    if 400 <= status < 500:
        raise _Refused(words or f"status {status}")
    # Neither the answer nor the cause is shown: they may contain tokens.
    raise describe_failure("no_tokens", who=urlsplit(url).netloc, status=status)


async def _send(url: str, form: Mapping[str, str], network: Network) -> Fetched:
    """Send a form, or get a document without one. Raises ModelError."""
    headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
    return await fetch(url, network, headers, urlencode(form).encode() if form else None, most=_LARGEST)


def _check_address(url: str, vendor: Vendor) -> None:
    """Raise UsageError for an address that tokens must not go to."""
    target = address_of(url)
    if target is None or not (target.tls or target.is_loopback):
        text = f"The sign-in to {vendor.title} leads to {url[:100]}, which is not encrypted."
        raise UsageError(text, "Nothing was sent there. Check the issuer.")


def _read_nonce(id_token: str) -> str:
    """Return the nonce of a token that came from the server itself over TLS, which proves its origin."""
    try:
        payload = id_token.split(".")[1]
        claims = json_input.decode_or({}, urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), JsonObject)
    except (IndexError, ValueError):
        return ""
    return str(claims.get("nonce", ""))
