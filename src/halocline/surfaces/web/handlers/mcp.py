"""The MCP servers of a folder: list, test, change, and install from the registry."""

import asyncio
from typing import Any

from msgspec.structs import asdict, replace

from halocline.client.mcp import McpService, OfferedServer, ServerTrial, describe_server_entry
from halocline.client.policy import PolicyService
from halocline.protocol.errors import UsageError
from halocline.protocol.events.mcp import Order
from halocline.protocol.kinds import Mode
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.web.handlers.handler import OfFolder, action, query
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder
from halocline.surfaces.web.page_words import tell_page

TAIL = 400
"""Lines of server output."""


class OfServer(OfFolder, frozen=True):
    name: str


class NewServer(OfServer, frozen=True):
    """`config` has the form of `mcp.json`; for the project's file (`project`), or yours."""

    config: JsonObject
    project: bool = False


class RegistrySearch(Value, frozen=True):
    """Words to find in a server's name or description; `category` is one more word."""

    words: str
    category: str = ""
    sort: Order | None = None


class OfOffer(Value, frozen=True):
    """A registry server, with values for its parameters."""

    name: str
    values: dict[str, str] = {}
    workspace: str = ""


class InstallRequest(OfOffer, frozen=True):
    """Install option `way`, counted from 1, under the name `called`."""

    way: int = 1
    called: str = ""
    project: bool = False


@query("mcp")
async def list_servers(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """List a folder's servers and the permissions of their tools; starts none."""
    return await asyncio.to_thread(_list_folder, which)


@query("mcp_log")
async def read_server_log(tasks: OpenTasks, which: OfServer) -> str:
    """Return the end of a server's output, with keys redacted."""
    file = _open_service(which).log(which.name)
    text = await asyncio.to_thread(file.read_text, "utf-8", "replace")
    return redact_text("\n".join(text.splitlines()[-TAIL:]))


@query("registry")
async def search_registry(tasks: OpenTasks, which: RegistrySearch) -> list[dict[str, Any]]:
    """Search the configured registry."""
    found = await McpService.open(tasks.workspaces[0]).market.search(
        f"{which.words} {which.category}".strip(), (), which.sort
    )
    return [_show_offer(one) for one in found]


@query("registry_plan")
async def list_install_options(tasks: OpenTasks, which: OfOffer) -> dict[str, Any]:
    """Return a registry server's install options: what each runs, and missing values with their meanings."""
    place = _open_service(which, tasks)
    one, ways = await place.market.list_options(which.name, which.values)
    name = one.name.rpartition("/")[2]
    options = [
        {"runs": describe_server_entry(way.given), "wanted": way.wanted, "barred": place.barred(name, way.given)}
        for way in ways
        if not way.bundle
    ]
    return _show_offer(one) | {"ways": options, "bundles": [way.bundle for way in ways if way.bundle]}


@query("registry_readme")
async def read_readme(tasks: OpenTasks, which: OfOffer) -> str:
    """Return a registry server's README as Markdown, or an empty string."""
    place = _open_service(which, tasks)
    return await place.market.readme(await place.market.find(which.name), "")


@action("mcp_install")
async def install_server(tasks: OpenTasks, which: InstallRequest) -> str:
    """Install a registry server as `registry_plan` showed it; returns its name."""
    place = _open_service(which, tasks)
    one, every = await place.market.list_options(which.name, which.values)
    ways = [way for way in every if not way.bundle]  # bundles must be unpacked: halo mcp install
    if not 1 <= which.way <= len(ways):
        raise UsageError(f"No install option {which.way}.", f"Choose 1 to {len(ways)}.")
    name = which.called or one.name.rpartition("/")[2]
    async with tasks.writing:
        await asyncio.to_thread(place.add, name, ways[which.way - 1].given, project=which.project)
    return name


@action("mcp_add")
async def add_server(tasks: OpenTasks, which: NewServer) -> str:
    """Add a server; returns the file."""
    async with tasks.writing:
        return str(await asyncio.to_thread(_open_service(which).add, which.name, which.config, project=which.project))


@action("mcp_remove")
async def remove_server(tasks: OpenTasks, which: OfServer) -> str:
    """Remove a server from its file."""
    async with tasks.writing:
        return str(await asyncio.to_thread(_open_service(which).remove, which.name))


@action("mcp_enable")
async def enable_server(tasks: OpenTasks, which: OfServer) -> bool:
    """Turn a server on."""
    async with tasks.writing:
        await asyncio.to_thread(_open_service(which).switch, which.name, on=True)
    return True


@action("mcp_disable")
async def disable_server(tasks: OpenTasks, which: OfServer) -> bool:
    """Turn a server off."""
    async with tasks.writing:
        await asyncio.to_thread(_open_service(which).switch, which.name, on=False)
    return True


@action("mcp_test")
async def test_server(tasks: OpenTasks, which: OfServer) -> dict[str, Any]:
    """Start a server, list what it offers, and stop it."""
    tried: ServerTrial = (await _open_service(which).tried([which.name]))[0]
    return asdict(tried) | {"error": tell_page(redact_text(tried.error))}


def _list_folder(which: OfFolder) -> dict[str, Any]:
    found, place = _open_service(which), PolicyService.open()
    judged = place.mcp_tools(place.policy_context(which.folder(), Mode.ACT, None)).all()
    servers = [
        replace(one, runs=redact_text(one.runs), problem=tell_page(one.problem), decisions=judged.get(one.name, {}))
        for one in found.listed()
    ]
    return {"servers": servers, "problems": [*map(tell_page, found.problems)], "is_off": found.is_off}


def _show_offer(one: OfferedServer) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "about": one.description,
        "version": one.version,
        "page": one.page,
        "tags": one.tags,
        "stars": one.stars,
        "downloads": one.downloads,
        "changed_at": one.changed_at,
        "is_deprecated": one.is_deprecated,
    }


def _open_service(which: OfFolder | OfOffer, tasks: OpenTasks | None = None) -> McpService:
    """Open the service of a folder. Raises UsageError and SettingsError."""
    if tasks and not which.workspace:
        return McpService.open(tasks.workspaces[0])
    return McpService.open(find_folder(which.workspace))
