"""call_mcp_tool: calls a tool that find_tools found. The gate judges it as a call of that tool."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.protocol.values import JsonObject
from halocline.tools.mcp_arguments import fit_value
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    tool: Annotated[str, Meta(description="Tool name, as find_tools returned it.")]
    # A string, because not every vendor accepts an object without declared fields; an object is accepted too.
    arguments: Annotated[
        Any, Meta(description="Arguments, as a JSON object in a string.", extra_json_schema={"type": "string"})
    ] = "{}"


def summary(input: Input) -> Summary:
    if _parse_arguments(input) is None:
        raise ToolFailure("arguments is not a JSON object. Nothing was run; send them as one.")
    return Summary(title=f"Call {input.tool}", kind=ToolKind.EXECUTE, mcp=input.tool)


def call_directly(input: Input, cwd: str) -> tuple[str, JsonObject] | None:
    arguments = _parse_arguments(input)
    return None if arguments is None or input.tool == "call_mcp_tool" else (input.tool, arguments)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    raise ToolFailure("call_mcp_tool cannot call itself. Use a tool name that find_tools returned.")


def _parse_arguments(input: Input) -> JsonObject | None:
    """Return the arguments as an object; None if they are not one."""
    given = fit_value(input.arguments or "{}", {"type": "object"})
    return given if isinstance(given, dict) else None


DESCRIPTION = "Call a tool that find_tools returned."
TOOL = define_tool(
    "call_mcp_tool", DESCRIPTION, ToolKind.EXECUTE, Input, summary, run, edits=True, instead=call_directly
)
