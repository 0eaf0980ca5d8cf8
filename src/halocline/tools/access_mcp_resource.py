"""access_mcp_resource: what MCP servers have to be read, and one of it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ToolKind
from halocline.tools.mcp_tool import NOT_HERE, with_readable_images
from halocline.tools.schema import schema_of


class Input(msgspec.Struct):
    server_name: Annotated[str, Meta(description="The MCP server. Without it: all of them.")] = ""
    uri: Annotated[str, Meta(description="The resource to read. Without it: a list of what there is.")] = ""


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
        raise ToolFailure("Say which server has it: server_name is missing. Nothing was read.")
    content = await ctx.host.mcp.read(input.server_name, input.uri)
    return ToolOutput(with_readable_images(content, takes_images=ctx.task.takes_images()))


TOOL: Tool[Input] = Tool(
    spec=ToolSpec("access_mcp_resource", "Read a resource of an MCP server, or list what there is.", schema_of(Input)),
    kind=ToolKind.READ,
    input=Input,
    summary=summary,
    run=run,
)
