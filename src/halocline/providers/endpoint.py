"""A model's address and key. Neither the key nor custom headers ever appear in a text or repr."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from halocline._version import __version__
from halocline.net.address import address_of
from halocline.net.network import DIRECT, Network
from halocline.protocol import secrets
from halocline.protocol.errors import UsageError
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo
from halocline.providers.catalog.vendor import Family, Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.tokens import Tokens

_VARIABLE = compile_later(r"\$\{?(\w+)\}?")
_KEY_HEADERS = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}
"""The headers of families that take no bearer."""
_ANTHROPIC_VERSION = "2023-06-01"


class Endpoint(Value, frozen=True, dict=True):
    """One model of one vendor, and how to reach it.

    `model` is the vendor's own name for it, `known` what is known about it (`own_prices`: the user set its prices);
    `headers` and the fields of `extra_body` go with every request. `key_source` tells the user where the key comes
    from. `tokens` are sent where there is no key.
    """

    vendor: Vendor
    model: str
    key: str = ""
    key_source: str = ""
    tokens: Tokens | None = None
    base_url: str = ""
    known: ModelInfo | None = None
    own_prices: bool = False
    network: Network = DIRECT
    headers: Mapping[str, str] = {}
    extra_body: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.url!r})"  # without the key

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.vendor.name}/{self.model}"

    @property
    def url(self) -> str:
        return (self.base_url or self.vendor.base_url).rstrip("/")

    @cached_property
    def at_home(self) -> bool:
        """True if it is the vendor's own server, not another one that speaks the same API."""
        return address_of(self.url) == address_of(self.vendor.base_url)

    @property
    def family(self) -> Family:
        """The API family at this address: the vendor's own, unless the server is elsewhere."""
        return (not self.at_home and self.vendor.family_elsewhere) or self.vendor.family

    @property
    def info(self) -> ModelInfo:
        return self.known or (FREE if self.vendor.is_free else UNKNOWN)

    async def request_headers(self, more: Mapping[str, str] = {}) -> dict[str, str]:
        """Build the headers of a request, with the key in the family's header or the vendor's own, or a token.

        Raises ModelError if there is no token.
        """
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": f"halocline/{__version__}",
            **({"anthropic-version": _ANTHROPIC_VERSION} if self.family == "anthropic" else {}),
            **more,
            **self.headers,
        }
        # Of a service key or a sign-in, which are JSON, only the tokens that it gives are sent.
        if self.key and not self.key.startswith("{"):
            name = self.vendor.key_header or _KEY_HEADERS.get(self.family, "")
            headers[name or "authorization"] = self.key if name else f"Bearer {self.key}"
        elif self.tokens:
            headers["authorization"] = f"Bearer {await self.tokens.get_current()}"
        return headers

    def wire_model(self, wanted: str) -> str:
        """Return the vendor's name for a request's model, which may be `provider/model` or empty."""
        return wanted.removeprefix(f"{self.vendor.name}/") or self.model

    def without_key(self, text: str) -> str:
        """Redact key and token, which a server may repeat, and other secrets from a text."""
        token = self.tokens.last if self.tokens else ""
        return secrets.redaction.Redactor(lambda: frozenset({self.key, token}))(text)


def build_endpoint(
    vendor: Vendor, model: str, environ: Mapping[str, str], *, key: str = "", key_source: str = "", base_url: str = ""
) -> Endpoint:
    """Build an endpoint; missing values come from the vendor's environment variables.

    Raises:
        UsageError: the key or the address is missing, or the key contains invalid characters.
    """
    base_url = base_url or _own_address(vendor, environ)
    if not (base_url or vendor.base_url):
        hint = f"Set {vendor.base_url_variable}, or pass --base-url URL."
        raise UsageError(f"There is no address for {vendor.title}.", hint)
    key = key.strip() or vendor.key_in(environ)
    may_lack_key = base_url or not VENDORS.get(vendor.name, vendor).base_url
    if not key and vendor.key_variable and not (may_lack_key or vendor.credentials or vendor.local):
        hint = f"Run: export {vendor.key_variable}=…, or store a key: halo login {vendor.name}"
        raise UsageError(f"There is no key for {vendor.title}: {vendor.key_variable} is not set.", hint)
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"The key for {vendor.title} contains characters that keys do not have.", "Copy just the key.")
    return Endpoint(
        vendor=replace(vendor, base_url=_fill_variables(vendor.base_url, vendor, environ)),
        model=model or vendor.default_model,
        key=key,
        key_source=key_source,
        base_url=base_url,
        headers={name.lower(): _fill_variables(value, vendor, environ) for name, value in vendor.headers.items()},
    )


def base_url_of(vendor: Vendor, environ: Mapping[str, str], given: str = "") -> str:
    """Return a vendor's base URL: the given one, its variable's, or the default."""
    return given or _own_address(vendor, environ) or vendor.base_url


def _own_address(vendor: Vendor, environ: Mapping[str, str]) -> str:
    """Return the address in the vendor's variable; a bare host gets the vendor's path."""
    address = environ.get(vendor.base_url_variable, "").rstrip("/")
    _, _, rest = address.partition("://")
    return address + vendor.base_url_path if rest and "/" not in rest else address


def _fill_variables(text: str, vendor: Vendor, environ: Mapping[str, str]) -> str:
    """Replace the variables in a text. Raises UsageError for one that is not set."""
    if "$" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        if name := environ.get(found[1], "").strip():
            return name
        raise UsageError(f"{vendor.title} needs the variable {found[1]}, which is not set.", f"Set {found[1]}.")

    return _VARIABLE.sub(value, text)
