"""access_mcp_resource: lists the resources of MCP servers, or reads one."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.tools.mcp_tool import NOT_HERE, show_content
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    server_name: Annotated[str, Meta(description="MCP server; omit to list the resources of all servers.")] = ""
    uri: Annotated[str, Meta(description="Resource to read; omit to list the resources.")] = ""


def summary(input: Input) -> Summary:
    what = f"Read {input.uri}" if input.uri else "List resources"
    return Summary(
        title=f"{what} of MCP server {input.server_name or '(all)'}",
        kind=ToolKind.READ,
        mcp=f"{input.server_name or '*'}/resources",
        read_only=True,
    )


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if ctx.host.mcp is None:
        raise ToolFailure(NOT_HERE)
    if input.uri and not input.server_name:
        raise ToolFailure("server_name is missing. Set it to the server that has this resource.")
    return await show_content(await ctx.host.mcp.read(input.server_name, input.uri), ctx)


DESCRIPTION = "Read a resource of an MCP server, or list resources."
TOOL = define_tool("access_mcp_resource", DESCRIPTION, ToolKind.READ, Input, summary, run)
