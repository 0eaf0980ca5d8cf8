"""An editor made of the official SDK's client side: it starts the real `halo acp` and writes down all that it gets."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
from acp import RequestError, schema
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.forked import Forked, start_halo

HALO = (sys.executable, "-m", "halocline", "acp")
Decide = Callable[[schema.ToolCallUpdate, list[schema.PermissionOption]], str | None]
MODULE = "halocline.surfaces.acp.server"
PATIENCE = 60.0
BOUND = 45.0
"""Seconds in which a prompt ends."""
FIRMER = 2.0
"""Seconds after which an editor no longer waits for a process."""
LARGEST_LINE = 2**26


def choose(kind: str) -> Decide:
    """Decide by the kind of an option."""
    return lambda call, options: next((one.option_id for one in options if one.kind == kind), None)


class Editor:
    """`decides` gets a call and the options, and gives an option's id, or None for cancelled. Without it, it allows."""

    def __init__(self, decides: Decide | None = None) -> None:
        self.decides = decides or choose("allow_once")
        self.updates: list[Any] = []
        self.asked: list[tuple[schema.ToolCallUpdate, list[schema.PermissionOption]]] = []
        self.news = asyncio.Event()
        self.buffers: dict[str, str] = {}
        """Unsaved texts by path. What is written through the editor is saved."""
        self.abilities = schema.ClientCapabilities()
        self.fails_at_files = False
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.waits: asyncio.Event | None = None
        """Set when a permission is asked for, which then gets no answer."""
        self.process: Process | Forked

    async def session_update(self, session_id: str, update: Any, **meta: Any) -> None:
        self.updates.append(update)
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **meta: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append((tool_call, options))
        if self.waits:
            self.waits.set()
            await asyncio.Event().wait()
        chosen = self.decides(tool_call, options)
        if chosen is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(option_id=chosen, outcome="selected"))

    def offer_files(self) -> "Editor":
        """Offer to read and write files."""
        self.abilities = schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        )
        return self

    async def read_text_file(self, session_id: str, path: str, **meta: Any) -> schema.ReadTextFileResponse:
        self.reads.append(path)
        if self.fails_at_files:
            raise acp.RequestError.internal_error({"details": "denied"})
        return schema.ReadTextFileResponse(
            content=self.buffers[path] if path in self.buffers else Path(path).read_text()
        )

    async def write_text_file(
        self, session_id: str, path: str, content: str, **meta: Any
    ) -> schema.WriteTextFileResponse:
        self.writes.append(path)
        if self.fails_at_files:
            raise acp.RequestError.internal_error({"details": "denied"})
        self.buffers.pop(path, None)
        Path(path).write_text(content)
        return schema.WriteTextFileResponse()

    def on_connect(self, conn: acp.Agent) -> None:
        """Nothing to do."""

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait until something is true of what came."""
        async with asyncio.timeout(PATIENCE):
            while not (value := found()):
                self.news.clear()
                await self.news.wait()
        return value

    def of(self, kind: type) -> list[Any]:
        return [one for one in self.updates if isinstance(one, kind)]

    @property
    def said(self) -> str:
        """All text for the person, joined."""
        return "".join(one.content.text for one in self.of(schema.AgentMessageChunk))

    def calls(self) -> dict[str, list[Any]]:
        """The updates of each call."""
        found: dict[str, list[Any]] = {}
        for one in self.of(schema.ToolCallStart) + self.of(schema.ToolCallProgress):
            found.setdefault(one.tool_call_id, []).append(one)
        return found


@asynccontextmanager
async def connect(
    editor: Editor, root: Path, *words: str, program: Sequence[str] = HALO
) -> AsyncIterator[acp.core.ClientSideConnection]:
    """Start `halo acp`, or another program, with a home below `root`."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "LANG": "C.UTF-8"}
    if program == HALO:
        editor.process = await start_halo(("acp", *words), env=env, cwd=root, limit=LARGEST_LINE, modules=[MODULE])
    else:
        editor.process = await asyncio.create_subprocess_exec(
            *program, *words, env=env, cwd=root, limit=LARGEST_LINE, stdin=PIPE, stdout=PIPE
        )
    connection = acp.connect_to_agent(editor, editor.process.stdin, editor.process.stdout, use_unstable_protocol=True)
    try:
        yield connection
    finally:
        await connection.close()
        await end_process(editor.process)


async def end_process(process: Process | Forked) -> None:
    """End it as a person's editor does: it closes its pipe, and asks more firmly in the end."""
    assert process.stdin
    process.stdin.close()
    for step in (process.terminate, process.kill):
        try:
            await asyncio.wait_for(process.wait(), FIRMER)
        except TimeoutError:
            step()
    await process.wait()


async def begin(
    connection: acp.core.ClientSideConnection,
    folder: Path,
    abilities: schema.ClientCapabilities | None = None,
    **given: Any,
) -> tuple[schema.InitializeResponse, schema.NewSessionResponse]:
    """Initialize, and start a session."""
    ready = await connection.initialize(1, abilities or schema.ClientCapabilities())
    return ready, await connection.new_session(cwd=str(folder), mcp_servers=[], **given)


def prompt(text: str) -> list[schema.TextContentBlock]:
    """A prompt of one text."""
    return [schema.TextContentBlock(text=text, type="text")]


def flags(server: ModelServer) -> tuple[str, ...]:
    return "-m", "openai/x", "--base-url", server.url("openai")


async def ask(connection: acp.core.ClientSideConnection, task: str, text: str) -> str:
    """Return how a prompt ended: its stop reason, or the text of its error."""
    async with asyncio.timeout(BOUND):
        try:
            return (await connection.prompt(session_id=task, prompt=prompt(text))).stop_reason
        except RequestError as error:
            return str(error)


async def load(connection: acp.core.ClientSideConnection, folder: Path, task: str) -> None:
    await connection.initialize(1, schema.ClientCapabilities())
    await connection.load_session(cwd=str(folder), session_id=task, mcp_servers=[])
