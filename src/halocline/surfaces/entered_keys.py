"""Tries and keeps keys that a person entered, by `halo login` or `/login`, and removes them.

At most a key's last four characters are said.
"""

import asyncio
from collections.abc import Iterable, Iterator

from halocline.client.models import Account, Accounts, ModelConnection, StoredKey, save_address, try_server
from halocline.client.settings import SettingsService
from halocline.protocol.errors import HaloclineError
from halocline.protocol.secrets.secret import Secret

UNTRIED = "Nothing was stored. To store the key without testing it: halo login --no-test"
REFUSED = "Nothing was stored. Copy the key again, or create a new one."
COMMON = (
    *("anthropic", "openai", "gemini", "openrouter", "openai-compatible", "deepseek", "mistral"),
    *("xai", "groq", "together"),
)
"""The providers that come first in the list."""


def sort_accounts(accounts: Iterable[Account]) -> list[Account]:
    """Sort the providers of a list to pick from: those with a key, the common ones, the others, search engines."""
    places = {name: at for at, name in enumerate(COMMON)}
    return sorted(accounts, key=lambda one: (not one.has_key, places.get(one.provider, 99), one.searches, one.provider))


async def keep_key(accounts: Accounts, account: Account, key: Secret, *, tested: bool = True) -> list[str]:
    """Keep a key, once its server took it if it is `tested`. Returns what to say. Raises HaloclineError."""
    said = list(_describe_connection(await accounts.tried(account.provider, key))) if tested else []
    return [*said, _describe_kept(account, await asyncio.to_thread(accounts.keep, account.provider, key))]


async def keep_server(
    accounts: Accounts, settings: SettingsService, account: Account, base_url: str, typed: str
) -> tuple[Accounts, list[str]]:
    """Keep the address of a server that has no usual one, and its key, once it answered; a key may be empty.

    Returns the accounts at that address and what to say. Raises HaloclineError.
    """
    found = await try_server(accounts, account.provider, base_url, typed)
    said = list(_describe_connection(found.connection))
    kept = await asyncio.to_thread(found.accounts.keep, account.provider, found.key) if found.key else None
    needs_key = bool(kept or found.connection.key_source)
    said += describe_server(settings, account, found.base_url, kept, needs_key=needs_key)
    return found.accounts, said


def describe_server(
    settings: SettingsService, account: Account, base_url: str, kept: StoredKey | None, *, needs_key: bool
) -> list[str]:
    """Save the address of a server; return what to say of it and of its key."""
    save_address(settings.put, account.provider, base_url, needs_key=needs_key)
    said = [_describe_kept(account, kept)] if kept else []
    return [*said, f"The address {base_url} is now in {settings.file}."]


def forget_keys(accounts: Accounts, chosen: Iterable[Account]) -> list[str]:
    """Remove the stored keys of these providers; return what to say."""
    chosen = list(chosen)
    gone = [_describe_forgotten(one, server) for one in chosen for server in accounts.forget(one.provider)]
    variables = (one.variable for one in chosen if one.variable)
    still = [f"The environment variable {name} still has a key: unset {name}" for name in variables]
    return [*(gone or ["No key was stored."]), *still]


def _describe_connection(tried: ModelConnection) -> Iterator[str]:
    """Describe the result of the connection test. Raises HaloclineError when the key does not work."""
    if tried.failure and tried.known is None:
        hint = f"{tried.hint} {UNTRIED}" if tried.accepted is None else REFUSED
        raise HaloclineError(tried.failure, hint)
    took = f"{tried.seconds:.1f} s"
    if tried.accepted:
        yield f"{tried.server} accepted the key ({took})."
    else:
        unsure = ", but may take any key" if tried.key_source else ""
        yield f"{tried.server} answered ({took}){unsure}."
    if tried.failure:
        yield f"{tried.failure} {tried.hint}"


def _describe_kept(account: Account, kept: StoredKey) -> str:
    """Describe the place of the stored key, and how to undo it."""
    server = f" at {kept.server}" if kept.server else ""
    where = "in the system keyring" if kept.place == "keyring" else f"unencrypted in {kept.path}, readable only by you"
    what = f"key for {account.title}{server} ({kept.tail})" if kept.tail else f"sign-in to {account.title}{server}"
    text = f"The {what} is stored {where}. To undo: halo logout {account.provider}"
    if kept.variable:
        text += f"\nThe environment variable {kept.variable} is also set and overrides it."
    return text


def _describe_forgotten(account: Account, server: str) -> str:
    text = f"Removed the key for {account.title}{f' at {server}' if server else ''}."
    if account.signs_in and account.keys_page and not server:
        text += f" It is still valid; to revoke it: {account.keys_page}"
    return text
