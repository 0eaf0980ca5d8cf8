"""Takes the walkthrough's pictures in a real VS Code, with a scripted model: `python -m editors.vscode.pictures`."""

import asyncio
import io
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from editors.vscode.pack import HERE, pack
from PIL import Image
from playwright.async_api import Browser, FrameLocator, async_playwright
from tests.hosts.chromium import FOUND
from tests.servers.model_server import ModelServer
from tests.surfaces.vscode.code_server import CodeServer
from tests.surfaces.vscode.workbench import ONLY_THIS_MACHINE, Workbench

from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.executables import find_program
from halocline.providers.scripted.script import Call, Turn

MEDIA = HERE / "media"
WIDTH, HEIGHT = 960, 600
COLOURS = 48
"""Colours of a picture: text and its edges need no more, and each picture comes to some 20 kB."""
AREA = 'def area(radius):\n    """The area of a circle."""\n    return 3 * radius**2\n\n\nprint(area(2)\n'
BETTER = Call("replace_in_file", {"path": "shapes.py", "old_text": "3 * radius**2", "new_text": "3.14159 * radius**2"})
Step = Callable[[Workbench], Awaitable[object]]


async def _chat(workbench: Workbench) -> FrameLocator:
    await workbench.open_view("Halocline")
    return workbench.view("halocline.halocline")


async def _offer_to_install(workbench: Workbench) -> None:
    await (await _chat(workbench)).get_by_role("button", name="Install").wait_for()


async def _ask_for_a_model(workbench: Workbench) -> None:
    await (await _chat(workbench)).locator("[data-ready=open]").wait_for()


async def _write_a_prompt(workbench: Workbench) -> None:
    view = await _chat(workbench)
    await view.locator(".composer textarea").press_sequentially("Make the area exact in @sha")
    await view.get_by_role("option", name="shapes.py").first.wait_for()


async def _review_an_edit(workbench: Workbench) -> None:
    view = await _chat(workbench)
    await view.locator(".composer textarea").fill("Make the area exact")
    await view.locator(".composer textarea").press("Enter")
    await workbench.editors.wait_for_diff()


async def _use_the_light_bulb(workbench: Workbench) -> None:
    await workbench.open_file("data.json")
    await workbench.page.locator(".squiggly-warning, .squiggly-error").first.wait_for()
    await workbench.page.keyboard.press("Control+End")
    await workbench.page.keyboard.press("F8")
    await workbench.page.keyboard.press("Escape")
    await workbench.page.keyboard.press("Control+.")
    await workbench.page.get_by_text("Fix with Halocline").first.wait_for()


STEPS: dict[str, tuple[Step, bool, bool]] = {
    "install": (_offer_to_install, False, False),
    "model": (_ask_for_a_model, True, False),
    "task": (_write_a_prompt, True, True),
    "review": (_review_an_edit, True, True),
    "menus": (_use_the_light_bulb, True, True),
}
"""The steps of the walkthrough: what is done, and whether Halocline and a model are there."""


def _save(shot: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS)
    picture.save(MEDIA / f"{name}.png", optimize=True)


@contextmanager
def _running_server(root: Path) -> Iterator[CodeServer]:
    server = CodeServer(root)
    try:
        server.install(pack(HERE, root))
        server.start()
        yield server
    finally:
        server.stop()


def _make_project(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "shapes.py").write_text(AREA)
    (folder / "data.json").write_text('{\n  "radius": 2,\n}\n')
    return folder


def _write_settings(home: Path, url: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(f'model = "openai/demo"\nbase_url = "{url}"\n')


async def _take(browser: Browser, name: str) -> None:
    step, has_package, has_model = STEPS[name]
    with tempfile.TemporaryDirectory() as place, _running_server(Path(place)) as server:
        folder = _make_project(Path(tempfile.gettempdir(), "shapes"))
        command = [sys.executable, "-m", "halocline"] if has_package else ["/nowhere/halo"]
        server.change_settings({"halocline.command": command} if has_package else {})
        if not has_package:
            server.environment["PATH"] = "/usr/bin:/bin"
        async with ModelServer(
            [Turn(text="I use a better value of pi.", calls=(BETTER,)), Turn(text="Done.")]
        ) as model:
            if has_model:
                _write_settings(server.home / ".halocline", model.url("openai"))
            workbench = await Workbench.open(browser, server, folder, width=WIDTH, height=HEIGHT)
            try:
                await workbench.open_file("shapes.py")
                await step(workbench)
                await workbench.page.mouse.move(WIDTH / 2, HEIGHT - 40)  # away from what tells its name
                await workbench.page.mouse.move(WIDTH / 2, HEIGHT - 60, steps=5)
                await asyncio.sleep(2)  # what fades in or is marked has come
                _save(await workbench.page.screenshot(), name)
            finally:
                await workbench.close()


async def main(names: list[str]) -> None:
    async with async_playwright() as playwright:
        program = find_program("chromium-headless-shell") or FOUND.program
        browser = await playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", *QUIET, *ONLY_THIS_MACHINE]
        )
        for name in names or STEPS:
            await _take(browser, name)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
