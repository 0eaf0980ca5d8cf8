"""One MCP server in full, and changing how it is set up."""

import asyncio
from typing import Literal

from halocline.protocol.values import JsonObject
from halocline.services.mcp.details import Called, ServerDetail, ServerService
from halocline.surfaces.web.handlers.mcp import OfServer
from halocline.surfaces.web.handlers.route import Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


class Changed(OfServer, frozen=True):
    """Fields as they stand in `mcp.json`; null removes one. Of `env` and `headers` only what is named changes."""

    changes: JsonObject


class Allowed(OfServer, frozen=True):
    """A tool as its server calls it: `allow`, `deny` (it is not offered), or empty: as the policy decides."""

    tool: str
    way: Literal["", "allow", "deny"]


class OfCall(OfServer, frozen=True):
    """A call of a tool; `agreed`: a person was told what the policy wants to ask, and said yes."""

    tool: str
    arguments: JsonObject
    agreed: bool = False


async def mcp_server(desk: OpenTasks, which: OfServer) -> ServerDetail:
    """What a server offered when it last ran, what is allowed of it, and how it is written."""
    return await asyncio.to_thread(lambda: ServerService.open(find_folder(which.workspace)).detail(which.name))


async def mcp_set(desk: OpenTasks, which: Changed) -> str:
    """Change how a server is set up; gives the file."""
    async with desk.writing:
        place = ServerService.open(find_folder(which.workspace))
        return str(await asyncio.to_thread(place.change, which.name, which.changes))


async def mcp_allow(desk: OpenTasks, which: Allowed) -> str:
    """Say for good whether a tool may be called; gives the file."""
    async with desk.writing:
        place = ServerService.open(find_folder(which.workspace))
        return str(await asyncio.to_thread(place.allow, which.name, which.tool, which.way))


async def mcp_call(desk: OpenTasks, which: OfCall) -> Called:
    """Start a server, call one of its tools as a model would, and end it; nothing is run while the policy asks."""
    place = await asyncio.to_thread(ServerService.open, find_folder(which.workspace))
    return await place.call(which.name, which.tool, which.arguments, agreed=which.agreed)


QUERIES: Rows = {"mcp_server": Row(OfServer, mcp_server)}
ACTIONS: Rows = {
    "mcp_set": Row(Changed, mcp_set),
    "mcp_allow": Row(Allowed, mcp_allow),
    "mcp_call": Row(OfCall, mcp_call),
}
