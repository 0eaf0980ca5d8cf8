"""call_mcp_tool: calls a tool that find_tools found. It becomes a call of that tool before anything is judged."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ToolKind
from halocline.protocol.values import JsonObject
from halocline.tools.schema import schema_of


class Input(msgspec.Struct):
    tool: Annotated[str, Meta(description="Its name, as find_tools gives it.")]
    arguments: Annotated[dict[str, Any], Meta(description="What it takes.")] = {}


def summary(input: Input) -> Summary:
    return Summary(title=f"Call {input.tool}", kind=ToolKind.EXECUTE, mcp=input.tool)


def instead(input: Input, cwd: str) -> tuple[str, JsonObject] | None:
    return None if input.tool == "call_mcp_tool" else (input.tool, input.arguments)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    raise ToolFailure("This tool cannot call itself. Name one that find_tools gave.")


TOOL: Tool[Input] = Tool(
    spec=ToolSpec("call_mcp_tool", "Call a tool that find_tools gave.", schema_of(Input)),
    kind=ToolKind.EXECUTE,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    instead=instead,
)
