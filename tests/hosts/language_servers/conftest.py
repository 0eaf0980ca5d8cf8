import asyncio
import sys
from pathlib import Path

import pytest

from halocline.hosts.language_servers.servers import LanguageServers
from halocline.ports.diagnostics import EditedText

SCRIPT = Path(__file__).with_name("scripted_server.py")
SYSTEM = "/usr/local/bin:/usr/bin:/bin"


class Site:
    """A workspace, and a language server for Python that is the scripted one, on PATH or in the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "project"
        self.workspace.mkdir(exist_ok=True)
        self.programs = folder / "bin"
        self.opened: list[LanguageServers] = []

    def install(self, mode: str, place: Path | None = None) -> None:
        place = place or self.programs
        place.mkdir(parents=True, exist_ok=True)
        program = place / "pyright-langserver"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SCRIPT}" "{mode}" "{self.folder}"\n')
        program.chmod(0o755)

    def servers(self, wait: float = 20.0, **more: object) -> LanguageServers:
        environment = {"PATH": f"{self.programs}:{SYSTEM}", **more.pop("env", {})}
        servers = LanguageServers(self.workspace, wait, environment=environment, **more)
        self.opened.append(servers)
        return servers

    def path(self, name: str) -> Path:
        return self.workspace / name

    def heard(self) -> list[str]:
        return (self.folder / "heard").read_text().split("\n")

    @property
    def starts(self) -> int:
        file = self.folder / "starts"
        return len(file.read_text()) if file.exists() else 0

    async def warm(self, servers: LanguageServers, text: str = "", name: str = "a.py") -> LanguageServers:
        """Let a file be read, and wait until the server knows it."""
        path = self.path(name)
        path.write_text(text)
        servers.expect(path)
        async with asyncio.timeout(20):
            while not servers.is_warm(path):
                await asyncio.sleep(0.01)
        return servers

    async def edit(self, servers: LanguageServers, before: str | None, after: str | None, name: str = "a.py"):
        """What an edit of one file brought in, as (line, text)."""
        found = await servers.introduced([EditedText(self.path(name), before, after)])
        return [(problem.line, problem.text) for problem in found]


@pytest.fixture
async def site(tmp_path):
    site = Site(tmp_path)
    yield site
    for servers in site.opened:
        await servers.close()
