"""find_tools: searches the tools of MCP servers that have too many to list in full."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.kinds import ToolKind
from halocline.tools.mcp_tool import NOT_HERE
from halocline.tools.schema import define_tool

MOST_FOUND = 6
MORE = " {count:,} more match; name what the tool should do more exactly to find those."


class Input(msgspec.Struct):
    query: Annotated[str, Meta(description="Keywords for what the tool should do, or its name.")]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if ctx.host.mcp is None:
        raise ToolFailure(NOT_HERE)
    found = ctx.host.mcp.found(input.query)
    if not found:
        return ToolOutput.of("No tool matches. Try other words.")
    rest = len(found) - MOST_FOUND
    more = MORE.format(count=rest) if rest > 0 else ""
    shown = "\n\n".join(map(_describe_tool, found[:MOST_FOUND]))
    return ToolOutput.of(f"{shown}\n\n[Call one of them with call_mcp_tool.{more}]")


def _describe_tool(tool: McpTool) -> str:
    schema = msgspec.json.encode(tool.schema).decode()
    return f"{tool.name}: [{tool.server}] {tool.description}\narguments: {schema}"


DESCRIPTION = "Search for more tools, from MCP servers, by purpose. Returns their names and arguments."
TOOL = define_tool("find_tools", DESCRIPTION, ToolKind.OTHER, Input, "Find tools: {0.query}", run)
