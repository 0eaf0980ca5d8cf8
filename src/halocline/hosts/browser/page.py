"""One page in Chromium, through Playwright: do an action, wait for its effect, look at the result.

It runs only in the browser's worker process. Pages are hostile: every call to one has a time limit, and it is read in
an isolated world, so its scripts cannot change what is read.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Error, Page, Response, Route

from halocline.hosts.browser.page_events import PageEvents
from halocline.hosts.browser.page_reader import ANSWER, PageReader
from halocline.protocol.waiting import wait_at_most, wait_until

NAVIGATION = 7.0
SETTLING, QUIETING = 5.0, 3.0
PACE = 0.5
SOON = 0.3
MOST_PICTURE = 1_000_000
SCROLL = 600
PASSING = ("ERR_TIMED_OUT", "ERR_CONNECTION_RESET", "ERR_NETWORK_CHANGED", "ERR_EMPTY_RESPONSE", "Timeout ")
"""Failures that may pass on a second try."""
ABORTED = "ERR_ABORTED"

MOVED_ON = (
    "The page went from {before} to {now} by itself, so nothing was done. Launch the page that you want to act on."
)


class Failed(Exception):
    """The action was not done; the text says why."""


class BrowsedPage:
    """The page. `judge` returns why a URL must not be opened, or an empty text."""

    def __init__(self, context: BrowserContext, judge: Callable[[str], Awaitable[str]]) -> None:
        self._context = context
        self._judge = judge
        self._page: Page | None = None
        self._cdp: CDPSession | None = None
        self._frame = ""
        self._reader: PageReader | None = None
        self._refused = ""
        self._elsewhere = ""
        self._is_stuck = False
        self._status = 0
        self._mouse: tuple[int, int] | None = None
        self._requests = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._events = PageEvents(self._run_soon)

    async def open(self) -> None:
        """Open an empty page."""
        await self._context.route("**/*", self._route)
        self._context.on("page", lambda other: self._run_soon(self._close_window(other)))
        await self._renew()

    async def _renew(self) -> None:
        """Open a new page, watched before it loads anything; the old one is closed."""
        if self._page is not None:
            self._run_soon(self._shut(self._page))
        page = self._page = await self._context.new_page()
        cdp = self._cdp = await self._context.new_cdp_session(page)
        tree = await cdp.send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        self._reader = PageReader(cdp, self._frame)
        cdp.on("Fetch.requestPaused", lambda event: self._run_soon(self._judge_document(event)))
        await cdp.send("Fetch.enable", {"patterns": [{"urlPattern": "*", "resourceType": "Document"}]})
        self._events.watch(page)
        page.on("response", self._response)

    async def do(self, deed: str, url: str, point: tuple[int, int], text: str) -> dict[str, Any]:
        """Do the action, wait for its effect, and look. Raises Failed."""
        self._refused = ""
        self._events.clear()
        match deed:
            case "launch":
                await self._launch(url)
            case "click":
                await self._click(*point)
            case "type":
                await self._act(self.page.keyboard.type(text))
            case _:
                await self._act(self._scroll(SCROLL if deed == "scroll_down" else -SCROLL))
        return await self._view()

    def require_origin(self, origin: str) -> None:
        """Raise Failed if the page has another origin than the one that was judged."""
        parts = urlsplit(self.page.url)
        if origin and origin != f"{parts.scheme}://{parts.netloc}":
            raise Failed(MOVED_ON.format(before=origin, now=self.page.url[:300]))

    @property
    def page(self) -> Page:
        assert self._page is not None
        return self._page

    @property
    def reader(self) -> PageReader:
        assert self._reader is not None
        return self._reader

    async def _launch(self, url: str) -> None:
        if self._is_stuck:
            await self._renew()
        self._mouse, self._status = None, 0
        for attempt in (1, 2):
            try:
                await self.page.goto(url, wait_until="domcontentloaded", timeout=NAVIGATION * 1000)
                break
            except Error as error:
                why = str(error)
                if self._refused and self._is_answered():
                    break  # it loaded, then tried to go elsewhere
                if self._refused or ABORTED in why or "Download is starting" in why:
                    raise Failed(self._refused or self._not_a_page(url)) from error
                if attempt == 2 or not any(sign in why for sign in PASSING):
                    self._is_stuck = "Timeout" in why
                    raise Failed(_explain_failure(url, why)) from error
        await self._settle()

    def _is_answered(self) -> bool:
        return bool(self._status) and self._status // 100 != 3

    def _not_a_page(self, url: str) -> str:
        text = " ".join(self._events.happened)
        return text or f"{url} is not a page: the server sent nothing, or a file to download."

    async def _click(self, x: int, y: int) -> None:
        self._mouse = (x, y)
        await self._act(self.page.mouse.click(x, y))

    async def _scroll(self, distance: int) -> None:
        await self.reader.evaluate(f"scrollBy({{top: {distance}, behavior: 'instant'}})")

    async def _act(self, deed: Awaitable[None]) -> None:
        before = self._requests
        try:
            async with asyncio.timeout(NAVIGATION):
                await deed
        except TimeoutError:
            self._events.happened.append("The page did not respond in time.")
        await asyncio.sleep(SOON)
        if self._elsewhere:
            url, self._elsewhere = self._elsewhere, ""
            self._events.happened.append("The page opened a new window; its URL was loaded in this window instead.")
            await self._follow(url)
        if self._requests != before:
            with suppress(Error):
                await self.page.wait_for_load_state("domcontentloaded", timeout=NAVIGATION * 1000)
            await self._settle()
        else:
            await self._quiet()

    async def _follow(self, url: str) -> None:
        try:
            await self.page.goto(url, wait_until="domcontentloaded", timeout=NAVIGATION * 1000)
        except Error as error:
            if not self._refused:
                self._events.happened.append(_explain_failure(url, str(error)))

    async def _settle(self) -> None:
        """Wait until the network is idle and the document kept its size three times, at most SETTLING seconds."""
        await wait_at_most(SETTLING, asyncio.gather(self._idle(), self._stable()))

    async def _idle(self) -> None:
        with suppress(Error):
            await self.page.wait_for_load_state("networkidle", timeout=SETTLING * 1000)

    async def _stable(self) -> None:
        sizes: list[object] = []
        while len(sizes) < 3 or len(set(sizes[-3:])) > 1:
            if sizes:
                await asyncio.sleep(PACE)
            sizes.append(await self.reader.size())

    async def _quiet(self) -> None:
        """Wait until the console is silent for a moment, at most QUIETING seconds."""
        await wait_until(self._is_silent, QUIETING, 0)

    async def _is_silent(self) -> bool:
        before = self._events.console_count
        await asyncio.sleep(PACE)
        return self._events.console_count == before

    async def _view(self) -> dict[str, Any]:
        url = self.page.url
        if urlsplit(url).scheme not in ("http", "https") and url != "about:blank":
            await self._leave_url(url)
        seen = await self.reader.look()
        self._is_stuck = not seen
        if not seen:
            self._events.happened.append("The page does not respond and could not be read. Launch a page again.")
        self._events.note_omissions()
        picture = await self._picture()  # it may fail, which is told below
        return {
            **seen,
            "url": self.page.url,
            "status": self._status,
            "happened": [*([self._refused] if self._refused else []), *self._events.happened],
            "console": self._events.console,
            "mouse": self._mouse,
            "picture": base64.b64encode(picture).decode(),
        }

    async def _leave_url(self, url: str) -> None:
        """Leave a URL that is not a web page, such as a file; Chromium's own error pages are not mentioned."""
        if not url.startswith("chrome-error:"):
            self._events.happened.append(f"{url[:200]} was not opened: only http and https pages are allowed.")
        with suppress(Error):
            await self.page.goto("about:blank", timeout=ANSWER * 1000)

    async def _picture(self) -> bytes:
        for quality in (80, 40):
            try:
                data = await self.page.screenshot(type="jpeg", quality=quality, timeout=ANSWER * 1000)
            except Error:
                break
            if len(data) <= MOST_PICTURE:
                return data
        self._events.happened.append("No screenshot could be taken.")
        return b""

    async def _judge_document(self, event: dict[str, Any]) -> None:
        """Judge a document before it is requested, on every hop of a redirect."""
        assert self._cdp is not None
        url, paused = event["request"]["url"], {"requestId": event["requestId"]}
        refused = await self._judge(url) if event["frameId"] == self._frame else ""
        self._refused = refused or self._refused
        with suppress(Error):  # the page may have navigated away
            if refused:
                await self._cdp.send("Fetch.failRequest", {**paused, "errorReason": "Aborted"})
            else:
                await self._cdp.send("Fetch.continueRequest", paused)

    async def _route(self, route: Route) -> None:
        """Count each request. Navigation in another window is redirected to this one."""
        self._requests += 1
        with suppress(Error):
            if route.request.is_navigation_request() and not self._is_ours(route):
                self._elsewhere = route.request.url
                await route.abort()
            else:
                await route.fallback()

    def _is_ours(self, route: Route) -> bool:
        try:
            return route.request.frame.page is self._page
        except Error:  # the frame of a window that is just opening is not known yet
            return False

    async def _close_window(self, other: Page) -> None:
        await asyncio.sleep(SOON)
        if other is not self._page:
            await self._shut(other)

    async def _shut(self, page: Page) -> None:
        with suppress(Error):
            await page.close()

    def _response(self, response: Response) -> None:
        with suppress(Error):
            if response.request.is_navigation_request() and response.frame is self.page.main_frame:
                self._status = response.status

    def _run_soon(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _explain_failure(url: str, why: str) -> str:
    """Chromium's error, without Playwright's call log."""
    first = why.split("\n", 1)[0].removeprefix("Page.goto: ")
    if "ERR_CERT" in first:
        return f"{url} was not opened: its certificate is not trusted ({_error_code(first)}). The user can set ca_file."
    if "Timeout" in first:
        return f"{url} did not load within {NAVIGATION:g} s in two attempts."
    return f"{url} could not be opened: {_error_code(first)}."


def _error_code(text: str) -> str:
    return next((word for word in text.split() if word.startswith("net::")), text).removeprefix("net::")
