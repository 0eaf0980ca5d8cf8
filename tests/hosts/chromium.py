"""What tests with a real browser share: the browser, and a judge that knows which servers are allowed."""

import pytest

from halocline.hosts.browser.browser import LocalBrowser
from halocline.hosts.browser.discovery import find_browser
from halocline.hosts.browser.setup import BrowserSetup
from halocline.net.network import DIRECT, Network
from halocline.ports.browser import BrowserAct, Deed, PageView
from halocline.protocol.errors import ToolFailure

FOUND = find_browser("")
needs_chromium = pytest.mark.skipif(
    not FOUND.program, reason=f"{FOUND.missing}. {FOUND.hint} As root on Debian, `make test` installs it."
)


class Judge:
    """Allows what it is told to, by host and port; pictures and scripts also from `parts`."""

    def __init__(self, *allowed: str, parts: tuple[str, ...] = ()) -> None:
        self.allowed = {*allowed}
        self.parts = {*parts}

    async def __call__(self, url: str, *, part: bool = False) -> tuple[str, ...]:
        host = url.partition("://")[2].partition("/")[0]
        if host in self.allowed or (part and host in self.parts):
            return ("127.0.0.1",)
        raise ToolFailure(f"{url} needs a call of its own")


def new_browser(way=lambda url: DIRECT, ca_files: tuple[str, ...] = (), own_ports=lambda: (), **setup) -> LocalBrowser:
    return LocalBrowser(BrowserSetup(**{"executable": FOUND.program, "ca_files": ca_files, **setup}), way, own_ports)


class User:
    """Acts on a browser as the tool does."""

    def __init__(self, browser: LocalBrowser) -> None:
        self.browser = browser
        self.judge = Judge()

    async def launch(self, url: str, *allowed: str, parts: tuple[str, ...] = ()) -> PageView:
        self.judge = Judge(url.partition("://")[2].partition("/")[0], *allowed, parts=parts)
        return await self.browser.perform(BrowserAct(Deed.LAUNCH, url), self.judge)

    async def click(self, view: PageView, name: str) -> PageView:
        item = next(item for item in view.items if item.name == name)
        return await self.browser.perform(BrowserAct(Deed.CLICK, point=(item.x, item.y)), self.judge)

    async def type(self, text: str) -> PageView:
        return await self.browser.perform(BrowserAct(Deed.TYPE, text=text), self.judge)

    async def scroll(self, deed: Deed = Deed.SCROLL_DOWN) -> PageView:
        return await self.browser.perform(BrowserAct(deed), self.judge)


__all__ = ["FOUND", "Network", "User", "needs_chromium", "new_browser"]
