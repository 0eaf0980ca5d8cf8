"""Servers at an address of their own: test one, list its models, save its address and key."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from halocline.protocol.errors import UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.runtime.models.connection_test import ModelConnection
from halocline.services.models.accounts import Accounts

Put = Callable[[str, Any], None]
"""Changes a setting in the file: `SettingsService.put`."""

EXAMPLE = "For example http://127.0.0.1:8000/v1"


class TriedServer(Value, frozen=True):
    """A server that was tested at an address, with a key if it needs one. `accounts` are those at that address."""

    base_url: str
    accounts: Accounts
    key: Secret | None
    connection: ModelConnection


def check_address(typed: str) -> str:
    """Return an address with its scheme; a place on this machine may be typed without. Raises UsageError."""
    address = typed.strip()
    if not address:
        raise UsageError("Enter the base URL of the server.", EXAMPLE)
    if re.match(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)", address):
        address = f"http://{address}"
    if not re.fullmatch(r"https?://[^\s/]+\S*", address):
        raise UsageError(f"{typed!r} is no base URL: it must begin with http:// or https://.", EXAMPLE)
    return address


async def try_server(accounts: Accounts, provider: str, base_url: str, key: str) -> TriedServer:
    """Test the address, and with `/v1` if it is only a host; `key` is empty if it needs none. Raises UsageError."""
    base = check_address(base_url).rstrip("/")
    found = await _try_address(accounts.at(base), base, provider, key)
    if found.connection.failure and found.connection.reached and not urlsplit(base).path:
        longer = await _try_address(accounts.at(f"{base}/v1"), f"{base}/v1", provider, key)
        found = found if longer.connection.failure else longer
    return found


async def _try_address(accounts: Accounts, base_url: str, provider: str, typed: str) -> TriedServer:
    if not typed.strip():
        return TriedServer(base_url, accounts, None, await accounts.try_without_key(provider))
    key = accounts.checked(provider, typed)
    return TriedServer(base_url, accounts, key, await accounts.tried(provider, key))


def save_server(put: Put, provider: str, found: TriedServer) -> None:
    """Save address and key. A server that needs no key counts as local: it is asked for its models."""
    if found.key:
        found.accounts.keep(provider, found.key)
    save_address(put, provider, found.base_url, needs_key=bool(found.key or found.connection.key_source))


def save_address(put: Put, provider: str, base_url: str, *, needs_key: bool) -> None:
    """Save the address of a provider's server in the settings."""
    put(f"providers.{provider}.base_url", base_url)
    put(f"providers.{provider}.local", None if needs_key else True)
