"""A machine without Halocline: the extension says so, and installs the package with one click."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from editors.vscode.pack import build_package, pack
from playwright.async_api import Browser
from tests.surfaces.vscode.code_server import CodeServer, in_vs_code
from tests.surfaces.vscode.workbench import Workbench

pytestmark = in_vs_code
ID = "halocline.halocline"
ROOT = Path(__file__).parents[3]
PATIENCE = 120_000
"""Milliseconds for making an environment and installing thirty wheels in it."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the package needs, in place of the package index."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "-w", folder, "-r", ROOT / "run.lock"], check=True)
    return folder


@pytest.fixture
def bare_server(wheels: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeServer]:
    """A VS Code on a machine that has Python, but no `halo`."""
    programs = tmp_path / "programs"
    programs.mkdir()  # the newest name is tried first
    (programs / "python3.14").symlink_to(os.path.realpath(sys.executable))
    server = CodeServer(tmp_path_factory.mktemp("bare"))
    for name in (".profile", ".bashrc"):  # VS Code asks a login shell for the PATH
        (server.home / name).write_text(f"export PATH={programs}:/usr/bin:/bin\n")
    server.environment |= {
        "PATH": f"{programs}:/usr/bin:/bin",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://127.0.0.1:9/simple",  # nothing listens there, as on a machine without network
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_RETRIES": "1",
        "PIP_FIND_LINKS": str(wheels),
    }
    try:
        server.install(pack(ROOT / "editors" / "vscode", tmp_path, build_package(ROOT)))
        server.start()
        yield server
    finally:
        server.stop()


async def test_the_package_is_installed_with_one_click_and_a_failure_says_why(
    browser: Browser, bare_server: CodeServer, wheels: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (package,) = wheels.glob("msgspec-*.whl")
    missing = package.rename(tmp_path / package.name)
    workbench = await Workbench.open(browser, bare_server, folder)
    try:
        await workbench.open_view("Halocline")
        view = workbench.view(ID)
        await view.get_by_text("The Python package halocline is not installed on this machine.").wait_for()
        await view.get_by_role("button", name="Install").click()
        failed = workbench.notification("Halocline could not be installed: the package index")
        await failed.wait_for(timeout=PATIENCE)
        missing.rename(package)
        await view.get_by_role("button", name="Install").click()
        await view.locator("[data-ready=open]").wait_for(timeout=PATIENCE)
        await workbench.reload()
        await workbench.open_view("Halocline")
        await workbench.view(ID).locator("[data-ready=open]").wait_for()
    finally:
        await workbench.screenshot(tmp_path / "window.png")
        await workbench.close()
    assert workbench.outside == []
