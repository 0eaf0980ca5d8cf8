"""One server's life cycle: one coroutine starts it, lists what it offers, notices its end, and restarts it.

What must stay true: the coroutine that opened a connection closes it; a server that hangs, crashes or misbehaves costs
a bounded time and affects no other server; the error text is kept.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from halocline.files.stamp import read_stamp
from halocline.installation import extra_command
from halocline.mcp.cache import Offer, is_fresh, key_of
from halocline.mcp.connection.server_log import ServerLog
from halocline.mcp.connection.setup import FORGOTTEN, NO_PROGRAM, Broken, Hopeless, Refused, Setup
from halocline.mcp.tool_names import name_for
from halocline.mcp.variables import Missing, fill_variables, server_environment
from halocline.ports.mcp import Caller
from halocline.ports.mcp_servers import Server
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.messages import ResultPart
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks, wait_at_most

if TYPE_CHECKING:
    from halocline.mcp.connection.session import Session

Answer = TypeVar("Answer")
FIRST_WAIT, MOST_TRIES = 1.0, 6
"""Seconds before the second try, doubled for each further one; and the number of tries in a row."""
LIVED = 60.0
"""Seconds of uptime after which a server that ends counts as working: the number of tries starts over."""
_AUTO, _LEGACY = "auto", "legacy"


class Standing(StrEnum):
    """State of a server. `resting`: it is not running, and its offer is known from an earlier run."""

    OFF = "off"
    RESTING = "resting"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class Supervisor:
    """Runs one server."""

    def __init__(self, server: Server, setup: Setup) -> None:
        self.server = server
        self.standing = Standing.OFF if server.entry.disabled else Standing.RESTING
        self.offer: Offer | None = None
        self.error = server.problem
        self.settled = asyncio.Event()
        self.log = ServerLog(setup.logs / f"{name_for(server.name, 'log')}.log")
        self._setup = setup
        self._session: Session | None = None
        self._life: asyncio.Task[None] | None = None
        self._again = asyncio.Event()
        self._stamps: tuple[object, ...] = ()
        self._legacy = server.entry.mode == _LEGACY
        self._key = ""
        self._was_ready = False
        self._starts = 0
        self._outcomes = 0
        if self.error:
            self._settle(Standing.FAILED)
        elif self.standing is not Standing.OFF:
            self._prepare()

    @property
    def is_failing(self) -> bool:
        """True from a failure until it is ready, also while it is started again."""
        return self.is_used and bool(self.error)

    @property
    def is_awaited(self) -> bool:
        """True if a task's first request waits for it: its tools are unknown, and it is not known to be slow."""
        return self.is_used and self.offer is None and not self._setup.offers.is_slow(self._key)

    def waited_in_vain(self) -> None:
        """Record that the first request went out without it."""
        if self._key:
            self._setup.offers.note_slow(self._key)

    @property
    def is_running(self) -> bool:
        """True if its coroutine is running."""
        return self._life is not None and not self._life.done()

    @property
    def is_used(self) -> bool:
        return self.standing is not Standing.OFF

    @property
    def tools(self) -> tuple[McpTool, ...]:
        """The offered tools that the settings leave on, one per name: vendors refuse duplicate names."""
        off, on = self.server.entry.disabled_tools, self.server.entry.enabled_tools
        first: dict[str, McpTool] = {}
        for tool in self.offer.tools if self.offer else ():
            first.setdefault(tool.name, tool)
        return tuple(tool for tool in first.values() if tool.tool not in off and (on is None or tool.tool in on))

    @property
    def repeated_names(self) -> tuple[str, ...]:
        """The names that it lists more than once; only the first tool of each is offered."""
        counted = Counter(tool.tool for tool in self.offer.tools) if self.offer else {}
        return tuple(name for name, count in counted.items() if count > 1)

    def begin(self, *, anyway: bool = False) -> None:
        """Start it, unless it runs, is off, or its offer is known and fresh."""
        if not self.is_used or self.is_running or not self._key:
            return
        if anyway or self.offer is None or not is_fresh(self.offer):
            self.settled.clear()
            if self.server.transport == "stdio" and self._setup.find_program(self._filled) is None:
                self._starts += 1
                self._fail(NO_PROGRAM.format(command=self._filled.command))
                return
            self.standing = Standing.STARTING
            self._life = asyncio.create_task(self._live(), name=f"mcp {self.server.name}")

    async def connect(self) -> "Session":
        """Return the connection; make one if there is none. Raises ToolFailure."""
        if self._session is None:
            if not self.is_used or not self._key:
                raise ToolFailure(self._unusable())
            await self._wait_for_start()
        if self._session is None:
            raise ToolFailure(self._unusable())
        return self._session

    def require_same(self, tool: McpTool) -> None:
        """Raise ToolFailure unless the tool's definition is still the one that the model knows."""
        now = next((each for each in self.tools if each.tool == tool.tool), None)
        if now is None:
            raise ToolFailure(f"{self.server.name} no longer has a tool {tool.tool}. Nothing was run.")
        if now.digest != tool.digest:
            raise ToolFailure(
                f"The definition of {tool.subject} changed. Nothing was run; read its new description first."
            )
        self._setup.pins.agree(now)

    # Requests of a task; each connects first where there is no connection. All raise ToolFailure.

    async def call_tool(self, tool: McpTool, arguments: JsonObject, caller: Caller) -> tuple[ResultPart, ...]:
        """Call a tool, unless its definition is no longer the one the model knows."""
        for again in (True, False):
            session = await self.connect()
            self.require_same(tool)
            try:
                return await session.call(tool.tool, arguments, self.server.entry.timeout, caller)
            except Refused as refusal:
                raise ToolFailure(f"{tool.subject} failed: {refusal.text}") from refusal
            except Broken as error:
                # A server that no longer knows the session has not run the call, so it is safe to send it again.
                forgotten = error.text in FORGOTTEN
                why = await self._drop_session(session, error.text)
                if not (forgotten and again):
                    raise ToolFailure(self._describe_break(tool, why)) from error
        raise AssertionError("the second attempt returns or raises")

    async def ask(self, question: "Callable[[Session, float], Awaitable[Answer]]", what: str) -> Answer:
        """Ask for something else, within the server's time. `what` says what it could not do if it fails."""
        session = await self.connect()
        try:
            return await question(session, self.server.entry.timeout)
        except (Refused, Broken) as error:
            raise ToolFailure(f"The MCP server {self.server.name} could not {what}: {error.text}") from error

    def _describe_break(self, tool: McpTool, why: str) -> str:
        output = f"\nIts last output:\n{self.log.last_words}" if self.log.last_words else ""
        return (
            f"The connection to the MCP server {self.server.name} broke while {tool.tool} ran: {why}. "
            f"The call may or may not have taken effect.{output}"
        )

    async def _drop_session(self, session: "Session", why: str) -> str:
        """Drop a connection that failed, and return why; waits briefly for the program's own reason."""
        session.lifetime.end(await session.lifetime.wait_for_reason(why))
        if self._session is session:
            self._session = None
            self.settled.clear()
        return session.lifetime.fault

    async def close(self) -> None:
        """End it and wait until it is gone."""
        await end_tasks(self._life)

    def look(self) -> None:
        """Restart it if a file that its settings list in `watch` changed."""
        stamps = tuple(read_stamp(self._setup.workspace / name) for name in self.server.entry.watch)
        if self._stamps and stamps != self._stamps and self._session is not None:
            self.log.note("a watched file changed: restarting")
            self._session.lifetime.end("a watched file changed")
        self._stamps = stamps

    def root(self, folders: tuple[Path, ...]) -> None:
        """Set the task's folders besides its workspace; a running server is notified if they changed."""
        self._setup = replace(self._setup, folders=folders)
        if self._session is not None:
            self._session.root(folders)

    def _prepare(self) -> None:
        """Fill in the variables and look up the cached offer."""
        try:
            self._filled = fill_variables(self.server, self._setup.env, self._setup.keys)
        except Missing as missing:
            self.error = str(missing)
            self._settle(Standing.FAILED)
            return
        given = server_environment({}, self._setup.env, self._setup.passed)
        self._key = key_of(self.server.name, self.server.transport, self._filled, given, self._setup.workspace)
        self.offer = self._setup.offers.get(self._key)
        if self.offer is not None:
            self._legacy = self._legacy or self.offer.version < "2026"
            self.settled.set()

    async def _wait_for_start(self) -> None:
        """Wait for the outcome of the start under way; if there is none, start now."""
        wanted = self._starts + (self.standing is not Standing.STARTING)
        self.begin(anyway=True)
        self._again.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.server.entry.start_timeout):
                while self._session is None:
                    await self.settled.wait()
                    if self._outcomes >= wanted:
                        return
                    self.settled.clear()  # the outcome of an earlier start

    def _unusable(self) -> str:
        why = self.error or ("it is turned off" if not self.is_used else "it is still starting")
        return f"The MCP server {self.server.name} is not available: {why}. Nothing was run; continue without it."

    async def _live(self) -> None:
        tries = 0
        while tries < MOST_TRIES:
            began = time.monotonic()
            try:
                await self._once()
            except Hopeless as error:
                self._fail(error.text)
                return
            except HaloclineError as error:
                if self._may_be_older():
                    continue
                self._fail(error.text)
            except Exception as error:
                self._fail(f"{type(error).__name__}: {error}")
            finally:
                self._session = None
            tries = 0 if time.monotonic() - began > LIVED else tries + 1
            await wait_at_most(FIRST_WAIT * 2 ** (tries - 1) if tries else 0.0, self._again.wait())

    async def _once(self) -> None:
        """Run it from start to end. Raises Broken and Refused, which say why it ended."""
        self._starts += 1
        self._again.clear()
        self.settled.clear()
        self.standing = Standing.STARTING
        self.log.begin(f"starting: {self.server.runs}")
        open_session = await load_open_session()
        mode = _LEGACY if self._legacy else _AUTO
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.server.entry.start_timeout):
                    session = await stack.enter_async_context(
                        open_session(self.server, self._filled, self._setup, self.log, mode)
                    )
                    offer = await session.offer(time.time())
                self._take(session, offer)
                await self._stay(session)
            why = session.lifetime.fault or "the connection was closed"
        except TimeoutError:
            why = f"it did not start within {self.server.entry.start_timeout:g} s"
        except Hopeless:
            raise
        except Broken as error:
            why = error.text
        raise Broken(f"{why}; its last output: {self.log.last_words}" if self.log.last_words else why)

    def _may_be_older(self) -> bool:
        """Fall back once to the 2025 handshake: older servers may exit at a request that they do not know."""
        if self._legacy or self._was_ready:
            return False
        self._legacy = True
        return True

    def _take(self, session: "Session", offer: Offer) -> None:
        self._session = session
        session.root(self._setup.folders)  # they may have changed while it started
        self._was_ready = True
        self.offer = offer
        self.error = ""
        self._setup.offers.put(self._key, offer)
        self.log.note(f"ready: {len(offer.tools)} tools, protocol {offer.version}")
        self._settle(Standing.READY)

    async def _stay(self, session: "Session") -> None:
        """Wait until it is gone; list its offer again when it says that it changed."""
        ended = session.lifetime.gone
        listening = [asyncio.create_task(job) for job in (session.listen(), session.tell_of_roots())]
        try:
            while not ended.is_set():
                stale, gone = (asyncio.ensure_future(event.wait()) for event in (session.stale, ended))
                try:
                    await asyncio.wait([stale, gone], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    await end_tasks(stale, gone)
                if ended.is_set():
                    return
                session.stale.clear()
                self.offer = await session.offer(time.time())
                self._setup.offers.put(self._key, self.offer)
        finally:
            self._session = None
            await end_tasks(*listening)

    def _fail(self, why: str) -> None:
        self.error = why
        self.log.note(f"stopped: {why}")
        self._settle(Standing.FAILED)

    def _settle(self, standing: Standing) -> None:
        self.standing = standing
        self._outcomes = self._starts
        self.settled.set()


async def load_open_session() -> "Callable[..., AbstractAsyncContextManager[Session]]":
    """Import the SDK and return `session.open_session`. Raises Hopeless where it is not installed."""
    # It also logs what it raises, and without a handler Python would print that over the screen.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    try:
        session = await asyncio.to_thread(import_module, "halocline.mcp.connection.session")
        opening: Callable[..., AbstractAsyncContextManager[Session]] = session.open_session
        return opening
    except ImportError as error:
        is_ours = (error.name or "").split(".")[0] in ("mcp", "mcp_types")
        text = f"MCP support is not installed; run: {extra_command('mcp')}" if is_ours else str(error)
        raise Hopeless(text) from error
