"""Sign-in through the browser: to a provider for a key, and to an MCP server."""

import asyncio
from typing import Any

from msgspec.structs import asdict

from halocline.client.mcp import McpService
from halocline.client.models import ModelConnection
from halocline.client.options import Choices
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import action
from halocline.surfaces.web.handlers.mcp import OfServer
from halocline.surfaces.web.handlers.settings import OfProvider
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.sign_ins import Begun, Pasted, Show


class OfSignIn(Value, frozen=True):
    id: str


class PastedAddress(OfSignIn, frozen=True):
    """The browser's final address, or the code in it."""

    text: str


@action("sign_in")
async def sign_in_to_provider(tasks: OpenTasks, which: OfProvider) -> Begun:
    """Start a sign-in to a provider for a key."""
    accounts = tasks.client.models.accounts

    async def run(show: Show, pasted: Pasted) -> ModelConnection:
        async with accounts.signing_in(which.provider) as begun:
            show(begun.url)
            key = await begun.key(pasted)
        tried = await accounts.tried(which.provider, key)
        if tried.accepted is not False:
            await asyncio.to_thread(accounts.keep, which.provider, key)
            tasks.client.reload(Choices())
        return tried

    return await tasks.sign_ins.begin(run)


@action("mcp_sign_in")
async def sign_in_to_server(tasks: OpenTasks, which: OfServer) -> Begun:
    """Start a sign-in to an MCP server."""
    place = McpService.open(which.folder())

    async def run(show: Show, pasted: Pasted) -> dict[str, Any]:
        tried = await place.signed_in(which.name, show)
        return asdict(tried) | {"error": redact_text(tried.error)}

    return await tasks.sign_ins.begin(run)


@action("sign_in_wait")
async def wait_for_sign_in(tasks: OpenTasks, which: OfSignIn) -> Any:
    """Wait for a sign-in: returns the key's test result, or what the MCP server offers."""
    return await tasks.sign_ins.wait(which.id)


@action("sign_in_paste")
async def paste_address(tasks: OpenTasks, which: PastedAddress) -> bool:
    """Pass on the final address of a sign-in in a browser on another machine."""
    tasks.sign_ins.paste(which.id, which.text)
    return True


@action("mcp_sign_out")
async def sign_out_of_server(tasks: OpenTasks, which: OfServer) -> bool:
    """Sign out of an MCP server; false if not signed in."""
    return await asyncio.to_thread(McpService.open(which.folder()).sign_out, which.name)
