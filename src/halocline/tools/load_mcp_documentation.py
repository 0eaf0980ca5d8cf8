"""load_mcp_documentation: how to build and configure an MCP server. It is long, so it is loaded on request only."""

from importlib.resources import files

import msgspec

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import schema_of


class Input(msgspec.Struct):
    pass


def summary(input: Input) -> Summary:
    return Summary(title="Read how to build an MCP server", kind=ToolKind.OTHER)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    return ToolOutput.of(files("halocline.context").joinpath("prompts", "mcp_server.md").read_text(encoding="utf-8"))


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "load_mcp_documentation",
        "Read how to build an MCP server and configure it here. Do this before you start one.",
        schema_of(Input),
    ),
    kind=ToolKind.OTHER,
    input=Input,
    summary=summary,
    run=run,
)
