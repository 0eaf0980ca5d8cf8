"""One VS Code window in a browser, and what people do in it.

    workbench = await open_workbench(folder)
    await workbench.open_view("Halocline")
    view = workbench.view("halocline.halocline")       # the page in the side bar: locators work in it
    await view.get_by_role("textbox").fill("Mend the parser")
    await workbench.editors.wait_for_diff()
    await workbench.editors.replace_text(workbench.editors.modified, "my own text")
    await workbench.editors.press_title_button("Approve")

Wait on locators: a page with a strict Content-Security-Policy forbids `wait_for_function`.
"""

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    FrameLocator,
    Locator,
    Page,
    Request,
    TimeoutError as TooLate,
)
from tests.surfaces.vscode.code_server import CodeServer
from tests.surfaces.vscode.editors import Editors

LIMIT = 30_000
"""Milliseconds that anything may take on a busy machine."""
OFFERED = 2_000
"""Milliseconds that a list is given to offer an entry, before it is looked for again."""
SETTLING, TRIES = 0.7, 20
"""Seconds after a click on a view, and how often: a window that was loaded again restores it, and a click hides it."""
ONLY_THIS_MACHINE = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-proxy-server")
"""Flags with which Chromium reaches nothing else; routing all requests through the test would switch its cache off."""
RESOURCES = ".vscode-resource.vscode-cdn.net"
"""The name under which a webview's own files are; a service worker answers for it."""
THEMES = {
    "light": ("Light Modern", "vs"),
    "dark": ("Dark Modern", "vs-dark"),
    "high contrast": ("Dark High Contrast", "hc-black"),
}
OURS = ("halocline", "tests.", "[Extension Host]", "vscode-cdn.net", "webview", "Content Security Policy")
"""Marks of messages about extensions and their pages; VS Code itself writes errors of its own."""
NOISE = (
    "spdlog",
    "native-watchdog",
    "waiting for authentication provider",
    "The web worker extension host is started in a same-origin iframe",
    "can escape its sandboxing",
    "responded with a status of 404",
    "Long running operations during shutdown",
    "vscode-log:",  # its own log, which a reload closes
    "Canceled: Canceled",  # what it no longer waits for
    "[CHAT] extension request ERRORED",  # a model that refused, which is told to whoever asked
    "is already registered",  # its extensions that start only in a trusted folder
    "Found unexpected null",  # its view, if the window ends while it is drawn
    "Cannot read properties of null (reading 'classList')",  # the frame around a page that is replaced while it loads
)
"""Messages of VS Code about parts that were not compiled, and about itself."""


class Workbench:
    """`problems` are errors in the console, of pages and of extensions; `outside` are servers that were not reached."""

    def __init__(self, server: CodeServer, context: BrowserContext, page: Page) -> None:
        self.server, self.context, self.page = server, context, page
        self.editors = Editors(page)
        self.problems: list[str] = []
        self.outside: list[str] = []
        page.on("console", self._record_message)
        page.on("pageerror", self._record_error)
        context.on("request", self._record_request)

    @classmethod
    async def open(
        cls, browser: Browser, server: CodeServer, folder: Path, width: int = 1280, height: int = 800
    ) -> "Workbench":
        """Open a folder in a new window, as a person who has never used this VS Code."""
        context = await browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
        context.set_default_timeout(LIMIT)
        workbench = cls(server, context, await context.new_page())
        await workbench.open_folder(folder)
        return workbench

    async def close(self) -> None:
        """Close the window. Its extension host ends a second later."""
        await self.context.close()

    async def open_folder(self, folder: Path) -> None:
        await self.page.goto(f"{self.server.address}/?folder={quote(str(folder))}")
        await self.wait_until_ready()

    async def reload(self) -> None:
        """Reload the window: extensions start anew, tabs and views come back.

        What the window that ends could no longer read is not counted as a problem.
        """
        known = len(self.problems)
        await self.page.reload(wait_until="commit")
        self.problems[known:] = [problem for problem in self.problems[known:] if "loadLocalResource" not in problem]
        await self.wait_until_ready()

    async def wait_until_ready(self) -> None:
        """Wait until the window is drawn. Extensions may still start; what needs them waits for itself."""
        for part in (".monaco-workbench", ".part.activitybar", ".part.statusbar .statusbar-item"):
            await self.page.locator(part).first.wait_for()

    async def run_command(self, title: str) -> None:
        """Run a command by the palette, named with its category: `Halocline: New Task`."""
        await self._pick(f">{title}", title, "F1")

    async def open_file(self, name: str) -> None:
        """Open a file of the folder by its name."""
        await self._pick(name, name, "Control+P")
        await self.editors.tab(name).wait_for()

    async def fail_in_terminal(self, command: str) -> None:
        """Run a command that fails in a new terminal, until its failure is marked there."""
        await self.run_command("Terminal: Create New Terminal")
        terminal = self.page.locator(".terminal-wrapper.active")
        await terminal.locator(".xterm-helper-textarea").wait_for(state="attached")
        await self.page.locator(".terminal-tabs-entry, .single-terminal-tab").first.wait_for()
        await terminal.locator(".xterm-helper-textarea").press_sequentially(command + "\n")
        await terminal.locator(".terminal-command-decoration:is(.error, .codicon-terminal-decoration-error)").wait_for()

    async def open_view(self, title: str) -> None:
        """Show a view container of an extension in the side bar, by its title in the activity bar."""
        tab = self.page.locator(".part.activitybar").get_by_role("tab", name=re.compile(f"^{re.escape(title)}"))
        await tab.wait_for()
        for _ in range(TRIES):
            if await tab.get_attribute("aria-selected") != "true":
                await tab.click()
            await asyncio.sleep(SETTLING)
            if await tab.get_attribute("aria-selected") == "true":
                return
        raise AssertionError(f"The view {title} does not stay open.")

    def view(self, extension: str) -> FrameLocator:
        """The page of an extension (`publisher.name`) in the side bar: what of all does not touch the right edge."""
        return self._webview(extension, ":not(.webview-overlay-outer-right)")

    def view_in_tab(self, extension: str) -> FrameLocator:
        """The page of an extension in an editor tab."""
        return self._webview(extension, ".webview-overlay-outer-right")

    async def list_status_bar(self) -> list[str]:
        """The texts of the status bar, in their order."""
        texts = await self.page.locator(".part.statusbar .statusbar-item").all_inner_texts()
        return [text.strip() for text in texts if text.strip()]

    def status(self, text: str) -> Locator:
        """An item of the status bar by its text."""
        return self.page.locator(".part.statusbar .statusbar-item").filter(has_text=text)

    def notification(self, text: str) -> Locator:
        return self.page.locator(".notification-list-item").filter(has_text=text).first

    async def answer_notification(self, text: str, button: str) -> None:
        await self.notification(text).get_by_role("button", name=button).click()

    async def answer_dialog(self, button: str) -> None:
        """Answer a modal question, such as whether to save a file that is closed."""
        await self.page.locator(".monaco-dialog-box").get_by_role("button", name=button).click()

    @property
    def quick_input(self) -> Locator:
        """The field of the palette, of a choice that an extension asks for, or of a text."""
        return self.page.locator(".quick-input-widget input.input").first

    async def choose(self, label: str) -> None:
        """Choose an entry of the list that an extension shows."""
        await self._pick(label, label)

    async def enter_text(self, prompt: str, text: str) -> None:
        """Enter a text that an extension asks for."""
        await self.page.locator(".quick-input-widget").get_by_text(prompt).wait_for()
        await self.quick_input.fill(text)
        await self.quick_input.press("Enter")

    async def choose_theme(self, theme: Literal["light", "dark", "high contrast"]) -> None:
        """Choose it as people do. It stays until the end of the test."""
        name, kind = THEMES[theme]
        for tries in (3, 3, LIMIT // OFFERED):  # the palette that closes may close the list as well
            await self.run_command("Preferences: Color Theme")
            with suppress(AssertionError):
                await self._pick(name, name, tries=tries)
                break
        await self.page.locator(f".monaco-workbench.{kind}").wait_for()

    async def screenshot(self, path: Path) -> None:
        await self.page.screenshot(path=path)

    async def _pick(self, text: str, label: str, key: str = "", tries: int = LIMIT // OFFERED) -> None:
        """Look for an entry and take it, in a list that a key opens or that comes by itself.

        Again until it is offered: a list that opens empties the field, and one that is open stays as it is.
        """
        for _ in range(tries):
            if key:
                await self.page.keyboard.press(key)
            try:
                await self.quick_input.fill(text, timeout=OFFERED)
                return await self._take(label)
            except TooLate:
                if key:
                    await self.page.keyboard.press("Escape")
        raise AssertionError(f"{label} is not offered")

    async def _take(self, label: str) -> None:
        """Go to an entry with the arrow keys: a click would miss a list that still grows."""
        entry, focused = (
            self.page.locator(f'.monaco-list-row{state}:is([aria-label="{label}"], [aria-label^="{label},"])')
            for state in ("", ".focused")
        )
        await entry.first.wait_for(timeout=OFFERED)
        while not await focused.count():
            await self.page.keyboard.press("ArrowDown")
        await self.page.keyboard.press("Enter")

    def _webview(self, extension: str, place: str) -> FrameLocator:
        """The document of an extension lies in a frame of VS Code's, and that in another origin's."""
        outer = f'.webview-overlay-content{place} iframe.webview.ready[src*="extensionId={extension}&"]'
        return self.page.frame_locator(outer).frame_locator("#active-frame")

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._record_problem(f"{message.text} {message.location.get('url', '')}")

    def _record_error(self, error: Error) -> None:
        self._record_problem(f"{error} {error.stack}")

    def _record_problem(self, whole: str) -> None:
        if any(mark in whole for mark in OURS) and not any(noise in whole for noise in NOISE):
            self.problems.append(f"error: {whole}")

    def _record_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        host = address.hostname or ""
        if address.scheme in ("http", "https") and host != "127.0.0.1" and not host.endswith(RESOURCES):
            self.outside.append(request.url)
