"""Settings and provider keys. A key goes to the store and to its provider; none is ever returned."""

import asyncio
from typing import Any

from halocline.client.models import ModelConnection, save_server, try_server
from halocline.client.options import Choices
from halocline.client.settings import Setting
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import Nothing, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfSetting(Value, frozen=True):
    name: str


class NewValue(OfSetting, frozen=True):
    value: Any


class OfProvider(Value, frozen=True):
    provider: str


class Login(OfProvider, frozen=True):
    key: str

    def __repr__(self) -> str:
        return f"Login({self.provider})"


class ModelServer(Login, frozen=True):
    """The address of a server that speaks a provider's API; `key` is empty if it needs none."""

    base_url: str

    def __repr__(self) -> str:
        return f"ModelServer({self.provider}, {self.base_url})"


@query("settings")
async def list_settings(tasks: OpenTasks, _: Nothing) -> list[Setting]:
    """List all settings with value, source and allowed values."""
    return await asyncio.to_thread(tasks.client.settings.listed)


@action("set_setting")
async def set_setting(tasks: OpenTasks, which: NewValue) -> bool:
    """Set a value in `settings.toml`; new tasks use it."""
    if which.value is None:
        raise UsageError(f"{which.name} needs a value.", "Reset it instead.")
    return await _put_setting(tasks, which.name, which.value)


@action("reset_setting")
async def reset_setting(tasks: OpenTasks, which: OfSetting) -> bool:
    """Remove a value from `settings.toml`, restoring the default."""
    return await _put_setting(tasks, which.name, None)


async def _put_setting(tasks: OpenTasks, name: str, value: Any) -> bool:
    async with tasks.writing:
        await asyncio.to_thread(tasks.client.settings.put, name, value)
    tasks.client.reload(Choices())
    return True


@query("providers")
async def list_providers(tasks: OpenTasks, _: Nothing) -> list[dict[str, Any]]:
    """List providers of models and search engines, the sources of their keys for the servers in use; never a key."""
    return [
        {
            "name": account.provider,
            "label": account.title,
            "variable": account.variable,
            "stored": account.stored_for_server if account.server else account.stored,
            "elsewhere": [one for one in account.elsewhere if one != account.server],
            "keys_page": account.keys_page,
            "signs_in": account.signs_in,
            "searches": account.searches,
            "needs_address": account.needs_address,
        }
        for account in await asyncio.to_thread(tasks.client.models.accounts.all)
    ]


@action("login")
async def log_in(tasks: OpenTasks, which: Login) -> ModelConnection:
    """Test a key, and store it unless its server rejects it; returns the test's result."""
    accounts = tasks.client.models.accounts
    key = accounts.checked(which.provider, which.key)
    tried = await accounts.tried(which.provider, key)
    if tried.accepted is not False:
        await asyncio.to_thread(accounts.keep, which.provider, key)
        tasks.client.reload(Choices())
    return tried


@action("connect_server")
async def connect_server(tasks: OpenTasks, which: ModelServer) -> ModelConnection:
    """Test a server at another address; save address and key if it answers. Returns the test's result."""
    found = await try_server(tasks.client.models.accounts, which.provider, which.base_url, which.key)
    if not found.connection.failure:
        async with tasks.writing:
            await asyncio.to_thread(save_server, tasks.client.settings.put, which.provider, found)
        tasks.client.reload(Choices())
    return found.connection


@action("logout")
async def log_out(tasks: OpenTasks, which: OfProvider) -> list[str]:
    """Remove a provider's stored keys; returns the servers they were for, empty for its own."""
    gone = await asyncio.to_thread(tasks.client.models.accounts.forget, which.provider)
    tasks.client.reload(Choices())
    return gone
