"""Requests of a task to a running server; each connects first where there is no connection. All raise ToolFailure."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from halocline.mcp.connection.setup import FORGOTTEN, Broken, Refused
from halocline.mcp.connection.supervisor import Supervisor
from halocline.ports.mcp import Caller
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.messages import ResultPart, UserPart
from halocline.protocol.values import JsonObject

if TYPE_CHECKING:
    from halocline.mcp.connection.session import Session

Answer = TypeVar("Answer")


async def call_tool(
    supervisor: Supervisor, tool: McpTool, arguments: JsonObject, caller: Caller
) -> tuple[ResultPart, ...]:
    """Call a tool, unless its definition is no longer the one the model knows."""
    for again in (True, False):
        session = await supervisor.connect()
        supervisor.require_same(tool)
        try:
            return await session.call(tool.tool, arguments, supervisor.server.entry.timeout, caller)
        except Refused as refusal:
            raise ToolFailure(f"{tool.subject} failed: {refusal.text}") from refusal
        except Broken as error:
            # A server that no longer knows the session has not run the call, so it is safe to send it again.
            forgotten = error.text in FORGOTTEN
            why = await supervisor.drop_session(session, error.text)
            if not (forgotten and again):
                raise ToolFailure(_describe_break(supervisor, tool, why)) from error
    raise AssertionError("the second attempt returns or raises")


async def read_resource(supervisor: Supervisor, uri: str) -> tuple[ResultPart, ...]:
    """Read a resource."""
    limit = supervisor.server.entry.timeout
    return await _request(supervisor, lambda session: session.read(uri, limit), f"read {uri}")


async def list_resources(supervisor: Supervisor) -> str:
    """List its resources and templates, one per line."""
    return await _request(supervisor, lambda session: session.resources(), "list its resources")


async def get_prompt(supervisor: Supervisor, name: str, arguments: dict[str, str]) -> tuple[UserPart, ...]:
    """Get a prompt's content."""
    limit = supervisor.server.entry.timeout
    return await _request(supervisor, lambda session: session.prompt(name, arguments, limit), f"get its prompt {name}")


async def _request(supervisor: Supervisor, ask: "Callable[[Session], Awaitable[Answer]]", what: str) -> Answer:
    session = await supervisor.connect()
    try:
        return await ask(session)
    except (Refused, Broken) as error:
        raise ToolFailure(f"The MCP server {supervisor.server.name} could not {what}: {error.text}") from error


def _describe_break(supervisor: Supervisor, tool: McpTool, why: str) -> str:
    words = supervisor.log.last_words
    output = f"\nIts last output:\n{words}" if words else ""
    return (
        f"The connection to the MCP server {supervisor.server.name} broke while {tool.tool} ran: {why}. "
        f"The call may or may not have taken effect.{output}"
    )
