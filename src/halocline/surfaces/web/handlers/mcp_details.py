"""One MCP server in detail, and changes to its configuration."""

import asyncio
from typing import Literal

from halocline.client.mcp import ServerDetail, ServerService, ToolResponse
from halocline.protocol.values import JsonObject
from halocline.surfaces.web.handlers.handler import action, query
from halocline.surfaces.web.handlers.mcp import OfServer
from halocline.surfaces.web.open_tasks import OpenTasks


class ServerChanges(OfServer, frozen=True):
    """Fields of `mcp.json`; null removes one. In `env` and `headers` only the named entries change."""

    changes: JsonObject


class ToolPermission(OfServer, frozen=True):
    """A tool by its server's name: `allow`, `deny` (not offered), or empty: the policy decides."""

    tool: str
    way: Literal["", "allow", "deny"]


class OfCall(OfServer, frozen=True):
    """A call of a tool; `agreed`: the user approved what the policy asks about."""

    tool: str
    arguments: JsonObject
    agreed: bool = False


@query("mcp_server")
async def read_server(tasks: OpenTasks, which: OfServer) -> ServerDetail:
    """Return a server's last known tools, permissions and configuration."""
    return await asyncio.to_thread(lambda: ServerService.open(which.folder()).detail(which.name))


@action("mcp_set")
async def change_server(tasks: OpenTasks, which: ServerChanges) -> str:
    """Change a server's configuration; returns the file."""
    async with tasks.writing:
        place = ServerService.open(which.folder())
        return str(await asyncio.to_thread(place.change, which.name, which.changes))


@action("mcp_allow")
async def set_tool_permission(tasks: OpenTasks, which: ToolPermission) -> str:
    """Set a tool's permission permanently; returns the file."""
    async with tasks.writing:
        place = ServerService.open(which.folder())
        return str(await asyncio.to_thread(place.allow, which.name, which.tool, which.way))


@action("mcp_call")
async def call_tool(tasks: OpenTasks, which: OfCall) -> ToolResponse:
    """Start a server, call one tool as a model would, and stop it; runs nothing until the policy allows it."""
    place = await asyncio.to_thread(ServerService.open, which.folder())
    return await place.call(which.name, which.tool, which.arguments, agreed=which.agreed)
