"""One VS Code for the whole run, and windows in it that nobody has used before."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright
from tests.hosts.chromium import FOUND
from tests.surfaces.vscode.code_server import CodeServer, running_server
from tests.surfaces.vscode.workbench import ONLY_THIS_MACHINE, Workbench

from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.executables import find_program

OpenWorkbench = Callable[..., Awaitable[Workbench]]


@pytest.fixture(scope="session")
def session_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeServer]:
    workers = getattr(request.config, "workerinput", {}).get("workercount", 1)
    if workers > 1 and not request.config.getvalue("loadgroup"):
        pytest.skip("these tests share one VS Code and run in one worker: make vscode")
    with running_server(tmp_path_factory.mktemp("vscode")) as server:
        yield server


@pytest.fixture
def code_server(session_server: CodeServer) -> CodeServer:
    """The server with its usual settings; install an extension before a window is opened."""
    session_server.reset_settings()
    return session_server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=find_program("chromium-headless-shell") or FOUND.program,
            args=["--no-sandbox", *QUIET, *ONLY_THIS_MACHINE],
        )
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_workbench(browser: Browser, code_server: CodeServer, tmp_path: Path) -> AsyncIterator[OpenWorkbench]:
    """Opens a window: `await open_workbench(folder, width=1280)`. At the end nothing was off in it.

    What a test saw of a window that failed is in `tmp_path/window-N.png`.
    """
    windows: list[Workbench] = []

    async def open_window(folder: Path, **more: int) -> Workbench:
        windows.append(await Workbench.open(browser, code_server, folder, **more))
        return windows[-1]

    yield open_window
    for number, window in enumerate(windows):
        await window.screenshot(tmp_path / f"window-{number}.png")
        await window.close()
    assert [problem for window in windows for problem in window.problems] == []
    assert [address for window in windows for address in window.outside] == []
