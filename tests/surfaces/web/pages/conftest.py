"""A real server and a real browser: pages of `halo web`, with nothing in the console and no request that failed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright
from tests.hosts.chromium import FOUND
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.pages.screen import Screen, Server

from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.executables import find_program

PROGRAM = find_program("chromium-headless-shell") or FOUND.program
"""The same browser without its windows: a page test takes three quarters of the time in it."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", *QUIET])
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="session")
async def halo(tmp_path: Path) -> AsyncIterator[Halo]:
    halo = Halo(tmp_path)
    yield halo
    halo.clean_up()


@pytest_asyncio.fixture(loop_scope="session")
async def server(halo: Halo) -> AsyncIterator[Server]:
    """`halo web` in the project's folder; `server.start()` starts it, once the home is as the test wants it."""
    server = Server(halo)
    yield server
    await server.stop()


Opened = Callable[..., Awaitable[Screen]]


@pytest_asyncio.fixture(loop_scope="session")
async def opened(browser: Browser, server: Server) -> AsyncIterator[Opened]:
    """Opens a page: `await opened(width=390, theme="dark")`; several are several browsers of several people."""
    screens: list[Screen] = []

    async def open_page(
        width: int = 1100, height: int = 800, theme: str = "light", path: str = "", *, touch: bool = False
    ) -> Screen:
        screen = await Screen.open(browser, server, width, height, theme, path, touch=touch)
        screens.append(screen)
        return screen

    yield open_page
    problems = [problem for screen in screens for problem in screen.problems]
    for screen in screens:
        await screen.close()
    assert problems == []


@pytest.fixture
def golden() -> Path:
    return Path(__file__).parents[3] / "golden" / "format-1"
