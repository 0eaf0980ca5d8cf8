"""The cost of the extension in a real VS Code: `python -m benchmarks.vs_code [--rounds N]`.

Needs Chromium and code-server (`make vscode` installs it).

Activation: what VS Code itself says (*Developer: Show Running Extensions*), and that no process of ours runs before the
first use. View: from the click on the icon of a new window until the page can be typed into, with the start of its
process; beside it, in turns, from the start of `halo web` until its page in the same Chromium can be typed into.
"""

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from editors.vscode.pack import HERE, pack
from playwright.async_api import Browser, async_playwright
from tests.surfaces.vscode.code_server import CodeServer, running_server
from tests.surfaces.vscode.workbench import ONLY_THIS_MACHINE, Workbench

from benchmarks.web_page import Server
from halocline.hosts.browser.discovery import QUIET, find_browser

ID = "halocline.halocline"
READY = "[data-ready=open] .composer textarea"


async def measure_activation(window: Workbench) -> float:
    """Return the milliseconds that VS Code counted for the activation of the extension."""
    await window.page.locator(".statusbar-item").filter(has_text="Halocline").wait_for()
    await asyncio.sleep(1)  # the list does not notice an activation that ends later
    await window.run_command("Developer: Show Running Extensions")
    shown = window.page.locator(".runtime-extensions-editor .monaco-list-row").filter(has_text="Halocline")
    finished = shown.get_by_text(re.compile(r"\d+ms"))
    found = re.search(r"(\d+)ms", await finished.first.inner_text())
    assert found
    await window.page.keyboard.press("Escape")
    await window.page.locator(".monaco-modal-editor-block").wait_for(state="detached")
    return float(found[1])


async def measure_view(browser: Browser, server: CodeServer, folder: Path) -> tuple[float, float]:
    """Return milliseconds for the activation, and seconds from the click to the usable view of a new window."""
    window = await Workbench.open(browser, server, folder)
    try:
        activation = await measure_activation(window)
        assert not list_processes(folder), "a process ran before the first use"
        began = time.perf_counter()
        await window.open_view("Halocline")
        await window.view(ID).locator(READY).wait_for()
        return activation, time.perf_counter() - began
    finally:
        await window.close()
        while list_processes(folder):  # noqa: ASYNC110 (it is not our child)
            await asyncio.sleep(0.2)


async def measure_web(browser: Browser, root: Path) -> float:
    """Return seconds from the start of `halo web` to its usable page."""
    began = time.perf_counter()
    async with Server(root) as server:
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(server.address)
        await page.locator(READY).wait_for()
        passed = time.perf_counter() - began
        await context.close()
    return passed


def list_processes(folder: Path) -> list[str]:
    """Return the processes that serve an extension in a folder."""
    return subprocess.run(["pgrep", "-f", f"editor -- {folder}"], capture_output=True, text=True).stdout.split()


async def measure(rounds: int, root: Path, server: CodeServer) -> None:
    work = root / "work"
    work.mkdir()
    (root / "home").mkdir()
    activations, views, pages = [], [], []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_browser("").program, args=["--no-sandbox", *QUIET, *ONLY_THIS_MACHINE]
        )
        await measure_web(browser, root)  # byte code and caches exist in the everyday run
        await measure_view(browser, server, work)
        for number in range(rounds):
            activation, view = await measure_view(browser, server, work)
            activations.append(activation)
            views.append(view)
            pages.append(await measure_web(browser, root))
            print(
                f"round {number + 1}: activation {activation:.0f} ms, view {view:.2f} s, halo web {pages[-1]:.2f} s",
                flush=True,
            )
        await browser.close()
    print(
        f"median of {rounds}: activation {median(activations):.0f} ms (goal 50), view {median(views):.2f} s, "
        f"halo web {median(pages):.2f} s, ratio {median(views) / median(pages):.2f} (goal 1.5)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        vsix = pack(HERE, root / "packed")
        print(f"{vsix.name}: {vsix.stat().st_size / 1000:.0f} kB (goal 300)", flush=True)
        with running_server(root / "vscode") as server:
            server.install(vsix)
            server.change_settings({"halocline.command": [sys.executable, "-m", "halocline"]})
            asyncio.run(measure(rounds, root, server))
    return 0


if __name__ == "__main__":
    sys.exit(main())
