"""What a test does with a page: say something, read what is there, look for barriers, see that nothing is off."""

import asyncio
import re
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page
from tests.surfaces.cli.halo_process import Halo

SILENCE = 800
"""Milliseconds after which a key counts for a decision."""
LIMIT = 20_000
"""Milliseconds that anything may take on a busy machine."""


class Server:
    """`halo web` as a process of its own."""

    def __init__(self, halo: Halo) -> None:
        self.halo = halo
        self.address = ""
        self.process: Process | None = None
        self._port = "0"

    async def start(self, *words: str) -> None:
        self.process = await self.halo.start("web", "--no-open", "--port", self._port, *words, stdout=PIPE, stderr=PIPE)
        assert self.process.stdout
        line = (await asyncio.wait_for(self.process.stdout.readline(), 30)).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#\S+", line)
        assert found, line + (await self.process.communicate())[1].decode()
        self.address, self._port = found[0], found[1]

    async def stop(self) -> None:
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
            await asyncio.wait_for(self.process.wait(), 20)

    def settings(self, text: str) -> None:
        """What settings.toml says, before the server starts."""
        self.halo.home.mkdir(exist_ok=True)
        (self.halo.home / "settings.toml").write_text(text)

    def model(self, *turns: dict[str, Any]) -> None:
        """The usual model says this."""
        self.settings(f'model = "{self.halo.script(*turns)}"\n')

    def task(self, log: Path, name: str = "261121-120000-gold") -> str:
        """A task of the history that has this log; gives its id."""
        folder = self.halo.home / "tasks" / name
        folder.mkdir(parents=True)
        shutil.copy(log, folder / "events.jsonl")
        return name


class Screen:
    """One page in a browser of its own."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.context = context
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._record_message)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))

    @classmethod
    async def open(
        cls, browser: Browser, server: Server, width: int, height: int, theme: str, path: str, *, touch: bool = False
    ) -> "Screen":
        context = await browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce",
            locale="en-GB",
            has_touch=touch,
            is_mobile=touch,
        )
        context.set_default_timeout(LIMIT)
        page = await context.new_page()
        screen = cls(context, page)
        await page.goto(server.address)
        await page.locator("[data-ready=open]").wait_for()
        if path:
            await screen.go(path)
        return screen

    async def close(self) -> None:
        await self.context.close()

    async def go(self, path: str) -> None:
        """To a place of the page: `task/ID`, `history`, `settings` …"""
        await self.page.evaluate("(path) => { location.hash = '#/' + path }", path)

    async def task(self, task: str) -> None:
        """Look at a task, until its past is told."""
        await self.go(f"task/{task}")
        await self.page.locator("[data-told=yes]").wait_for()

    @property
    def composer(self) -> Locator:
        return self.page.locator(".composer textarea")

    async def say(self, text: str) -> None:
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def sees(self, text: str, where: str = "body") -> None:
        """Wait until this stands somewhere."""
        await self.page.locator(where).get_by_text(text).first.wait_for()

    async def ended(self) -> None:
        """Wait until the turn is over."""
        await self.page.locator(".turn-end").last.wait_for()
        await self.page.locator(".dot.runs").first.wait_for(state="detached")

    async def transcript(self) -> str:
        """All that stands in the transcript, also what is not in view."""
        return await self.page.locator(".log-inside").evaluate("(box) => box.textContent")

    async def barriers(self) -> list[str]:
        """What axe finds that keeps people out: rule, and where."""
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
        found = await self.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    async def scrolls_sideways(self) -> bool:
        return await self.page.evaluate("() => document.documentElement.scrollWidth > innerWidth")

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")
