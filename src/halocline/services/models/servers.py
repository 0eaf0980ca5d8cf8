"""Servers at an address of their own: test one, list its models, save its address and key."""

import re
from collections.abc import Callable
from typing import Any

from halocline.protocol.errors import UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.runtime.models.connection_test import ModelConnection
from halocline.services.models.accounts import Accounts

Put = Callable[[str, Any], None]
"""Changes a setting in the file: `SettingsService.put`."""

EXAMPLE = "For example http://127.0.0.1:8000/v1"
_NO_API = "model_not_found"


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
    """Test the address, so that it comes to the same server with `/v1` at its end and without.

    `key` is empty if it needs none. Of two failures the one where there is an API counts, or the one as typed.
    Raises UsageError.
    """
    typed = check_address(base_url).rstrip("/")
    root = typed.removesuffix("/v1").rstrip("/")
    failed = dict[str, TriedServer]()
    for base in (f"{root}/v1", root):
        found = failed[base] = await _try_address(accounts.at(base), base, provider, key)
        if not (found.connection.failure and found.connection.reached):
            return found
    return next((one for one in failed.values() if one.connection.code != _NO_API), failed[typed])


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
