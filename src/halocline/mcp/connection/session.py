"""One connection to a server, through the official SDK. The coroutine that opened it must close it.

What must stay true: no SDK exception leaves this module, only `Broken` (the connection) and `Refused` (an answer).
Importing this takes most of a second, so the first server that starts does it in a thread.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

import mcp_types as types
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from halocline.mcp.cache import Offer
from halocline.mcp.connection.errors import TROUBLES, is_lost, translated
from halocline.mcp.connection.lifetime import Lifetime
from halocline.mcp.connection.server_log import ServerLog
from halocline.mcp.connection.server_tasks import call_as_task, needs_task
from halocline.mcp.connection.setup import Broken, Hopeless, Refused, Setup
from halocline.mcp.connection.sign_in import SignIn
from halocline.mcp.connection.transports import build_sign_in, open_http, open_pipes, watch_streams
from halocline.mcp.requests.callers import Callers, Serving
from halocline.mcp.requests.elicitation import Pages, answer_elicitation
from halocline.mcp.requests.sampling import REFUSED, answer_sampling
from halocline.mcp.results import (
    describe_progress,
    describe_resource,
    prompt_of,
    resource_parts,
    result_parts,
    tool_of,
)
from halocline.mcp.tool_names import plain_text
from halocline.mcp.variables import Filled
from halocline.ports.mcp import Caller
from halocline.ports.mcp_servers import Server
from halocline.protocol.messages import ResultPart, Text, UserPart
from halocline.protocol.values import JsonObject

MOST_PAGES = 50
MOST_TOOLS = 1_000
MOST_LEFT_OUT = 50
LIST_LIMIT = 30.0
"""Seconds for listing everything a server offers."""
UNHEARD = "{what} was not passed on: no call is running, or calls of several tasks are"


class Session:
    """An open connection. `stale` is set when one of the server's lists changed."""

    def __init__(self, server: Server, setup: Setup, log: ServerLog) -> None:
        self.lifetime = Lifetime()
        self.stale = asyncio.Event()
        self._moved = asyncio.Event()
        self.callers = Callers()
        self._pages = Pages()
        self._sign_in: SignIn | None = None
        self.server = server
        self._setup = setup
        self._folders = setup.folders
        self._log = log
        self._left_out: dict[str, None] = {}
        self._task_tools: frozenset[str] = frozenset()
        self._client: Client

    @property
    def version(self) -> str:
        return self._client.protocol_version

    async def offer(self, at: float) -> Offer:
        """List everything that the server offers. Raises Broken and Refused."""
        with translated():
            async with asyncio.timeout(LIST_LIMIT):
                return await self._offer(at)

    async def _offer(self, at: float) -> Offer:
        can = self._client.server_capabilities
        self._left_out.clear()
        tools = await self._all(self._client.list_tools, "tools") if can.tools is not None else []
        prompts = await self._all(self._client.list_prompts, "prompts") if can.prompts is not None else []
        self._task_tools = frozenset(tool.name for tool in tools if needs_task(tool, can))
        return Offer(
            tools=tuple(tool_of(self.server.name, tool) for tool in tools),
            prompts=tuple(prompt_of(self.server.name, prompt) for prompt in prompts),
            resources=can.resources is not None,
            instructions=plain_text(self._client.instructions or "", 1_000),
            version=self.version,
            at=at,
            left_out=tuple(self._left_out),
        )

    def _note_left_out(self, what: str) -> None:
        if what not in self._left_out and len(self._left_out) < MOST_LEFT_OUT:
            self._log.note(f"left out, as it is not valid MCP: {what}")
            self._left_out[what] = None

    async def _all(self, ask: Callable[..., Any], field: str) -> list[Any]:
        """Read all pages of a list, up to a limit. Without its first page, a server has no tools, and fails."""
        found: list[Any] = []
        cursor = None
        for _ in range(MOST_PAGES):
            try:
                page = await ask(cursor=cursor, cache_mode="refresh")
            except (MCPError, ValidationError) as error:
                if is_lost(error) or (cursor is None and field != "prompts"):
                    raise
                self._note_left_out(f"{'the rest' if cursor else 'all'} of its {field} (listing them failed)")
                break
            found += getattr(page, field)
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        return found[:MOST_TOOLS]

    async def call(self, tool: str, arguments: JsonObject, limit: float, caller: Caller) -> tuple[ResultPart, ...]:
        """Call a tool; each progress report restarts its timeout. Raises Broken and Refused."""
        try:
            async with self.callers.serving(caller, limit) as serving:
                with translated():
                    result = await self._call_tool(tool, arguments, serving)
        except TimeoutError as error:
            raise Refused(f"it did not answer within {limit:g} s") from error
        found = result_parts(result.content, result.structured_content, self._setup.blobs)
        if result.is_error:
            raise Refused("\n".join(part.text for part in found if isinstance(part, Text)) or "it gave no reason")
        return found

    async def _call_tool(self, tool: str, arguments: JsonObject, serving: Serving) -> types.CallToolResult:
        """Return the result; a server that first needs pages opened is called again once they were."""

        def report(words: str) -> None:
            serving.restart_timeout()
            serving.caller.progress(f"{words}\n")

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            report(describe_progress(progress, total, message))

        meta = _place_in_trace(serving.caller)
        if tool in self._task_tools:
            return await call_as_task(self._client.session, tool, arguments, report, meta)
        call = partial(self._client.call_tool, tool, arguments, progress_callback=report_progress, meta=meta)
        try:
            return await call()
        except MCPError as error:
            if error.code != types.URL_ELICITATION_REQUIRED:
                raise
            for page in UrlElicitationRequiredError.from_error(error.error).elicitations:
                done = await serving.asks(partial(self._answer_elicitation, page))
                if done is None or done.action != "accept":
                    raise
        return await call()

    async def resources(self) -> str:
        """List resources and templates, one per line. Raises Broken and Refused."""
        with translated():
            async with asyncio.timeout(LIST_LIMIT):
                there = await self._all(self._client.list_resources, "resources")
                with suppress(MCPError):
                    there += await self._all(self._client.list_resource_templates, "resource_templates")
        return "\n".join(describe_resource(each) for each in there)

    async def read(self, uri: str, limit: float) -> tuple[ResultPart, ...]:
        """Read a resource. Raises Broken and Refused."""
        with translated():
            async with asyncio.timeout(limit):
                result = await self._client.read_resource(uri)
        return resource_parts(result.contents, self._setup.blobs)

    async def prompt(self, name: str, arguments: dict[str, str], limit: float) -> tuple[UserPart, ...]:
        """Get a prompt's content. Raises Broken and Refused."""
        with translated():
            async with asyncio.timeout(limit):
                result = await self._client.get_prompt(name, arguments)
        parts = (result_parts([message.content], None, self._setup.blobs) for message in result.messages)
        return tuple(chain.from_iterable(parts))

    async def listen(self) -> None:
        """Subscribe to changes of the lists, where the protocol has no notifications for them."""
        if self.version in HANDSHAKE_PROTOCOL_VERSIONS:
            return
        with suppress(ListenNotSupportedError, SubscriptionLost, *TROUBLES):
            async with self._client.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
                async for _ in changes:
                    self.stale.set()

    def root(self, folders: tuple[Path, ...]) -> None:
        """Set the task's folders besides its workspace; the server is notified if they changed."""
        if folders != self._folders:
            self._folders = folders
            self._moved.set()

    async def tell_of_roots(self) -> None:
        """Notify the server whenever the folders change. With the newer protocol the server asks instead."""
        while self.version in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._moved.wait()
            self._moved.clear()
            with suppress(*TROUBLES):
                await self._client.session.send_notification(types.RootsListChangedNotification())

    async def connect(self, stack: AsyncExitStack, filled: Filled, mode: str) -> None:
        """Connect; the stack closes the connection. Raises Broken."""
        with translated(lambda: self._sign_in.asked if self._sign_in else ""):
            transport = await self._open_transport(stack, filled)
            client = Client(
                watch_streams(transport, self.lifetime, self._note_left_out),
                mode=mode,
                list_roots_callback=self.roots,
                logging_callback=self.handle_log,
                message_handler=self.handle_message,
                elicitation_callback=self.handle_elicitation,
                sampling_callback=self.handle_sampling if self._setup.sampling else None,
                client_info=types.Implementation(name="halocline", version=self._setup.version),
                cache=None,
            )
            self._client = await stack.enter_async_context(_closing_quietly(client))
            self.lifetime.answered = True

    async def _open_transport(
        self, stack: AsyncExitStack, filled: Filled
    ) -> AbstractAsyncContextManager[TransportStreams]:
        if self.server.transport == "stdio":
            return await open_pipes(stack, filled, self._setup, self._log, self.lifetime)
        self._sign_in = build_sign_in(self.server, filled, self._setup)
        return await open_http(stack, self.server, filled, self._setup, self._sign_in)

    # Requests and notifications from the server.

    async def roots(self, context: Any) -> types.ListRootsResult:
        """Return the task's folders."""
        folders = (self._setup.workspace, *self._folders)
        roots = [{"uri": folder.as_uri(), "name": folder.name or "/"} for folder in folders]
        return types.ListRootsResult(roots=[types.Root.model_validate(root) for root in roots])

    async def handle_message(self, message: Any) -> None:
        match message:
            case types.ToolListChangedNotification() | types.PromptListChangedNotification():
                self.stale.set()
            case types.ElicitCompleteNotification(params=params):
                self._pages.done(params.elicitation_id)

    async def handle_log(self, params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else json.dumps(params.data, default=str)
        self._log.note(f"{params.level}: {plain_text(text, 2_000)}")
        if params.level in ("error", "critical", "alert", "emergency"):
            self._setup.tell(f"The MCP server {self.server.name} says: {plain_text(text, 300)}")

    async def handle_elicitation(self, context: Any, params: Any) -> types.ElicitResult:
        answer = await self.callers.ask(partial(self._answer_elicitation, params))
        if answer is None:
            self._log.note(UNHEARD.format(what="a question"))
        return answer or types.ElicitResult(action="cancel")

    async def _answer_elicitation(self, params: Any, caller: Caller) -> types.ElicitResult:
        return await answer_elicitation(params, self.server.name, caller.ask, self._pages)

    async def handle_sampling(self, context: Any, params: Any) -> types.CreateMessageResult | types.ErrorData:
        blobs, name = self._setup.blobs, self.server.name
        answer = await self.callers.ask(lambda caller: answer_sampling(params, name, caller, blobs))
        if answer is None:
            self._log.note(UNHEARD.format(what="a request for the model"))
        return answer or types.ErrorData(code=REFUSED, message="None of your running calls belongs to this request.")


@asynccontextmanager
async def open_session(
    server: Server, filled: Filled, setup: Setup, log: ServerLog, mode: str
) -> AsyncIterator[Session]:
    """Open a connection for the context. `mode` is auto, or legacy for the 2025 handshake. Raises Broken."""
    session = Session(server, setup, log)
    async with AsyncExitStack() as stack:
        try:
            await session.connect(stack, filled, mode)
        except Hopeless:
            raise
        except Broken as error:
            raise Broken(await session.lifetime.wait_for_reason(error.text)) from error
        yield session


@asynccontextmanager
async def _closing_quietly(client: Client) -> AsyncGenerator[Client, None]:
    """Ignore errors while the connection closes."""
    await client.__aenter__()
    try:
        yield client
    finally:
        with suppress(*TROUBLES):
            await client.__aexit__(None, None, None)


def _place_in_trace(caller: Caller) -> types.RequestParamsMeta | None:
    """Return what a request says of the call behind it (SEP-414)."""
    return cast(types.RequestParamsMeta, {"traceparent": caller.traceparent}) if caller.traceparent else None
