"""MCP servers over HTTP, made with the official SDK, each on a port of its own."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.mcpserver import Context, MCPServer


def server() -> MCPServer:
    made = MCPServer("http-test")

    @made.tool(description="Adds.")
    def add(a: int, b: int) -> int:
        return a + b

    @made.tool(description="Has one tool more.")
    async def grow(ctx: Context) -> str:
        made.add_tool(lambda: "sprouted", name="sprout", description="New.")
        await ctx.notify_tools_changed()
        return "grown"

    return made


@asynccontextmanager
async def serving(app, port: int = 0) -> AsyncIterator[str]:
    """The URL at which an app answers, as long as this context."""
    listening = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    running.capture_signals = _no_signals
    task = asyncio.create_task(running.serve(sockets=[listening]))
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        await task
        listening.close()


def _no_signals():
    from contextlib import nullcontext

    return nullcontext()
