"""load_mcp_documentation: how to build and configure an MCP server. It is long, so it is loaded on request only."""

from importlib.resources import files

import msgspec

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    pass


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    return ToolOutput.of(files("halocline.context").joinpath("prompts", "mcp_server.md").read_text(encoding="utf-8"))


DESCRIPTION = "Read how to build an MCP server and configure it here. Do this before you start one."
TOOL = define_tool("load_mcp_documentation", DESCRIPTION, ToolKind.OTHER, Input, "Read how to build an MCP server", run)
