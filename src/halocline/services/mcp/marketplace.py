"""The registry of MCP servers: search it, read about a server, fetch what installs it. Nothing is installed here."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.files.durable import write_whole
from halocline.mcp.registry.bundles import LARGEST, Bundle, read_bundle
from halocline.mcp.registry.download import fetch_bytes
from halocline.mcp.registry.registry import (
    InstallOption,
    OfferedServer,
    fetch_readme,
    list_install_options,
    search_registry,
)
from halocline.net.network import Network
from halocline.protocol.errors import UsageError
from halocline.protocol.events.mcp import Order
from halocline.protocol.private_files import make_private_folder
from halocline.runtime.mcp import FolderServers
from halocline.runtime.network import find_network


class Marketplace:
    """The registry named in the settings. `download` is a fetched bundle's file; the next download replaces it."""

    def __init__(self, folder: FolderServers) -> None:
        self._folder = folder
        self.download = folder.home.mcp_bundles / ".fetched.mcpb"

    async def search(self, words: str, tags: Sequence[str] = (), order: Order | None = None) -> list[OfferedServer]:
        """Search the registry named in the settings. Raises HaloclineError."""
        return await search_registry(self._folder.settings.mcp.registry, words, self._reach, tags, order)

    async def find(self, name: str) -> OfferedServer:
        """Return a server of the registry by its name or the last part of it. Raises HaloclineError."""
        found = await self.search(name.rpartition("/")[2])
        matching = [one for one in found if name in (one.name, one.name.rpartition("/")[2])]
        if not matching:
            raise UsageError(f"The registry has no server {name}.", f"Search it: halo mcp search {name}")
        if len(matching) > 1:
            names = ", ".join(one.name for one in matching)
            raise UsageError(f"Several servers are named {name}.", f"Choose one: {names}")
        return matching[0]

    async def readme(self, one: OfferedServer, url: str) -> str:
        """Return a server's README; empty if there is none. Raises HaloclineError."""
        return await fetch_readme(one, self._folder.settings.mcp.registry, self._reach, url)

    async def list_options(self, name: str, values: dict[str, str]) -> tuple[OfferedServer, list[InstallOption]]:
        """Return a server of the registry and its install options. Raises HaloclineError."""
        one = await self.find(name)
        if not (known := list(list_install_options(one, values))):
            raise UsageError(f"{one.name} has no install option that is supported here.", f"See: {one.page}")
        return one, known

    async def fetch_bundle(self, place: str, sha256: str = "") -> Bundle:
        """Read a bundle from a file or URL without unpacking it. Raises HaloclineError."""
        if not place.startswith(("https://", "http://")):
            return await asyncio.to_thread(lambda: read_bundle(Path(place).expanduser(), sha256))
        if place.startswith("http://") and not sha256:
            raise UsageError(
                f"{place} uses plain http, so anyone on the network path can change the file.",
                "Use https, or give the file's hash: --sha256 HASH",
            )
        data = await fetch_bytes(place, self._reach, LARGEST)

        def store_bundle() -> Bundle:
            make_private_folder(self.download.parent)
            write_whole(self.download, data)
            return read_bundle(self.download, sha256)

        return await asyncio.to_thread(store_bundle)

    def _reach(self, url: str) -> Network:
        return find_network(url, self._folder.settings, self._folder.env)
