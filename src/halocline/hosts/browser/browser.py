"""A task's headless browser: a worker process with Playwright and Chromium, behind our own proxy.

What must stay true: no started process has a key in its environment, the keeper is the parent of all of them, and no
server gets a request before the policy allowed it.
"""

import asyncio
import base64
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from halocline.hosts.browser.proxy import BrowserGate
from halocline.hosts.browser.setup import FELL_BACK, BrowserSetup
from halocline.hosts.shell.descriptors import open_scratch_file
from halocline.hosts.shell.processes import Process, Processes
from halocline.hosts.shell.readiness import listened_on
from halocline.net.address import address_of
from halocline.net.network import Network
from halocline.ports.browser import BrowserAct, Deed, PageView
from halocline.ports.reach import Reach
from halocline.protocol.child_environment import ChildEnvironment, child_environment
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.waiting import end_tasks, wait_at_most

T = TypeVar("T")
PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""The only variables of our environment that worker, driver and browser get."""
LONGEST_LINE = 1 << 26
START = 40.0
LONGEST_DEED = 45.0
END = 4.0
MOST_REFUSALS = 5
NONE_OPEN = "No page is open. Use the launch action first."


class LocalBrowser:
    """Implements `ports.browser.Browser`. `network_for` gives a URL's settings, `own_ports` our listening ports."""

    def __init__(
        self,
        setup: BrowserSetup,
        network_for: Callable[[str], Network],
        own_ports: Callable[[], Iterable[int]] = lambda: listened_on(os.getpid()),
    ) -> None:
        self._setup = setup
        self._network_for = network_for
        self._own_ports = own_ports
        self._one_by_one = asyncio.Lock()
        self._session: _Session | None = None

    @property
    def viewport(self) -> tuple[int, int]:
        return self._setup.viewport

    async def perform(self, act: BrowserAct, reach: Reach) -> PageView:
        async with self._one_by_one:
            try:
                return await self._perform(act, reach)
            except HaloclineError:
                raise
            except BaseException:
                await self.close()  # interrupted or lost: the state of the page is unknown
                raise

    async def _perform(self, act: BrowserAct, reach: Reach) -> PageView:
        if act.deed is Deed.CLOSE:
            await self.close()
            return PageView("")
        if act.deed is Deed.LAUNCH:
            return await self._launch(act, reach)
        if self._session is None or not self._session.shown:
            raise ToolFailure(NONE_OPEN)
        return await self._do(self._session, act)

    async def _launch(self, act: BrowserAct, reach: Reach) -> PageView:
        notes = () if self._session else await self._start()
        session = self._session
        if session is None:
            raise ToolFailure(NONE_OPEN)
        session.admit(reach)
        view = await self._do(session, act)
        return replace(view, happened=(*notes, *view.happened))

    async def _start(self) -> tuple[str, ...]:
        """Start a browser: a remote one, or one here if that does not answer. Return notes. Raises ToolFailure."""
        try:
            await self._open(self._setup)
        except ToolFailure:
            if not (self._setup.remote and self._setup.executable):
                raise
            await self._open(replace(self._setup, remote=""))
            return (FELL_BACK.format(remote=self._setup.remote),)
        return ()

    async def _open(self, setup: BrowserSetup) -> None:
        session = self._session = _Session(setup, self._network_for, self._ports)
        try:
            await self._await_or_close(session.open(), START, "The browser did not start")
        except ToolFailure:
            await self.close()
            raise

    async def _do(self, session: "_Session", act: BrowserAct) -> PageView:
        return await self._await_or_close(session.do(act), LONGEST_DEED, "The browser did not answer")

    async def _await_or_close(self, work: Awaitable[T], patience: float, failure: str) -> T:
        """Await the work. A browser that breaks or takes too long is closed. Raises ToolFailure."""
        try:
            async with asyncio.timeout(patience):
                return await work
        except TimeoutError:
            await self.close()
            raise ToolFailure(f"{failure} within {patience:g} s and was closed. Launch the page again.") from None
        except _Broken as broken:
            await self.close()
            raise ToolFailure(str(broken)) from None

    def _ports(self) -> Iterable[int]:
        """Our own ports, and the debugging port of a remote browser."""
        steered = self._setup.remote.rstrip("/").rpartition(":")[2]
        return {*self._own_ports(), *([int(steered)] if steered else [])}

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class _Broken(Exception):
    """The browser or its worker ended or does not work."""


class _Session:
    """A worker and the connection to it. `shown` is the URL that the model last saw."""

    def __init__(
        self, setup: BrowserSetup, network_for: Callable[[str], Network], own_ports: Callable[[], Iterable[int]]
    ) -> None:
        self.shown = ""
        self._setup = setup
        self._reach: Reach | None = None
        self._gate = BrowserGate(self._judge_part, network_for, own_ports)
        self._processes = Processes(_browser_environment())
        self._process: Process | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._errors = -1
        self._judging: set[asyncio.Task[None]] = set()
        self._receiving: asyncio.Task[None] | None = None
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def admit(self, reach: Reach) -> None:
        """Let `reach` judge from now on; the page shown so far no longer counts."""
        self.shown = ""
        self._reach = reach

    async def open(self) -> None:
        """Start proxy, worker and browser. Raises _Broken."""
        proxy = await self._gate.start()
        ours, theirs = socket.socketpair()
        try:
            self._errors = open_scratch_file()
            await self._processes.ready()
            words = [sys.executable, "-P", "-m", "halocline.hosts.browser.worker"]
            fds = (self._errors, theirs.fileno())
            self._process = await self._processes.start(words, _browser_environment(), "/", fds, terminal=False)
        except OSError as error:
            ours.close()
            raise _Broken(f"The browser could not be started: {error.strerror}.") from error
        finally:
            theirs.close()
        self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
        self._receiving = asyncio.create_task(self._receive(self._reader))
        setup = self._setup
        await self._ask(
            {
                "open": {
                    "executable": setup.executable,
                    "remote": setup.remote and f"http://{setup.remote.rpartition('//')[2]}",
                    "proxy": proxy,
                    "viewport": setup.viewport,
                    "ca_files": setup.ca_files,
                }
            }
        )

    async def do(self, act: BrowserAct) -> PageView:
        """Do the action and look at the page. Raises ToolFailure and _Broken."""
        self._gate.refusals()
        origin = _origin_of(self.shown)
        asked = {"deed": act.deed.value, "url": act.url, "point": act.point, "text": act.text, "origin": origin}
        try:
            view = _decode_view(await self._ask(asked))
        except ToolFailure:
            self._require_reached(act.url, self._gate.refusals())
            raise
        refused = self._gate.refusals()
        if act.deed is Deed.LAUNCH:
            self._require_reached(view.url, refused)
        notes = [f"Not loaded: {text}" for text in [*refused.values()][:MOST_REFUSALS]]
        if len(refused) > MOST_REFUSALS:
            notes.append(f"{len(refused) - MOST_REFUSALS} more servers were blocked.")
        self.shown = view.url if view.url.startswith(("http://", "https://")) else ""
        return replace(view, url=self.shown, happened=(*view.happened, *notes))

    def _require_reached(self, url: str, refused: Mapping[str, str]) -> None:
        """Raise ToolFailure if our proxy refused the page's own server: its reason is clearer than Chromium's."""
        address = address_of(url)
        if address and address.authority in refused:
            raise ToolFailure(f"{url[:500]} was not opened. {refused[address.authority]}")

    async def close(self) -> None:
        """End the worker, which first gets time to remove its folder, and then everything it started."""
        async with AsyncExitStack() as parts:  # also if one fails, or the caller is cancelled once more
            parts.callback(self._close_errors)
            parts.push_async_callback(end_tasks, *self._judging, self._receiving)
            parts.push_async_callback(self._gate.close)
            parts.push_async_callback(self._processes.close)
            if self._writer is not None:
                self._writer.close()
            if self._process is not None:
                await wait_at_most(END, asyncio.shield(self._process.exited))

    def _close_errors(self) -> None:
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self._send(message)
        answer = await self._answers.get()
        match answer:
            case {"done": done}:
                return dict(done)
            case {"failed": str(text)}:
                raise ToolFailure(text)
            case {"broken": str(text)}:
                raise _Broken(f"The browser does not work: {text}")
        raise _Broken(f"The browser crashed and was closed. Launch the page again.{self._last_words()}")

    def _last_words(self) -> str:
        with suppress(OSError):
            size = os.fstat(self._errors).st_size
            output = os.pread(self._errors, 500, max(0, size - 500)).decode("utf-8", "replace").strip()
            return f" Its last output: {output}" if output else ""
        return ""

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        """Queue the worker's answers; its questions get theirs in the background."""
        with suppress(OSError, ValueError):
            while line := await reader.readline():
                message = json.loads(line)
                if "ask" not in message:
                    self._answers.put_nowait(message)
                    continue
                task = asyncio.create_task(self._judge(message))
                self._judging.add(task)
                task.add_done_callback(self._judging.discard)
        self._answers.put_nowait({})

    async def _judge(self, message: dict[str, Any]) -> None:
        assert self._reach is not None
        try:
            await self._reach(message["url"])
        except HaloclineError as refused:
            self._send({"ask": message["ask"], "verdict": refused.text})
        else:
            self._send({"ask": message["ask"], "verdict": ""})

    async def _judge_part(self, url: str) -> tuple[str, ...]:
        if self._reach is None:
            raise ToolFailure(NONE_OPEN)
        return await self._reach(url, part=True)

    def _send(self, message: dict[str, Any]) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")


def _browser_environment() -> ChildEnvironment:
    return child_environment({name: os.environ[name] for name in PASSED_ON if name in os.environ})


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def _decode_view(given: dict[str, Any]) -> PageView:
    picture = base64.b64decode(given.pop("picture", ""))
    items = [dict(zip(("x", "y", "kind", "name"), item, strict=True)) for item in given.pop("items", ())]
    view = msgspec.convert({**given, "items": items}, PageView)
    return replace(view, picture=picture, media_type="image/jpeg" if picture else "")
