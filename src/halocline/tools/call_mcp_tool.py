"""call_mcp_tool: calls a tool that find_tools found. It becomes a call of that tool before anything is judged."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol import json_input
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ToolKind
from halocline.protocol.values import JsonObject
from halocline.tools.schema import schema_of


class Input(msgspec.Struct):
    tool: Annotated[str, Meta(description="Its name, as find_tools gives it.")]
    # As text, because not every vendor takes an object whose fields nobody told; models that send one are understood.
    arguments: Annotated[
        Any, Meta(description="What it takes: a JSON object, as text.", extra_json_schema={"type": "string"})
    ] = "{}"


def summary(input: Input) -> Summary:
    if _parse_arguments(input) is None:
        raise ToolFailure("The arguments are no JSON object. Nothing was run; send them as one.")
    return Summary(title=f"Call {input.tool}", kind=ToolKind.EXECUTE, mcp=input.tool)


def call_directly(input: Input, cwd: str) -> tuple[str, JsonObject] | None:
    arguments = _parse_arguments(input)
    return None if arguments is None or input.tool == "call_mcp_tool" else (input.tool, arguments)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    raise ToolFailure("This tool cannot call itself. Name one that find_tools gave.")


def _parse_arguments(input: Input) -> JsonObject | None:
    """The object; None when it is none."""
    given = input.arguments
    if isinstance(given, str):
        try:
            given = json_input.decode(given or "{}")
        except msgspec.DecodeError:
            return None
    return given if isinstance(given, dict) else None


TOOL: Tool[Input] = Tool(
    spec=ToolSpec("call_mcp_tool", "Call a tool that find_tools gave.", schema_of(Input)),
    kind=ToolKind.EXECUTE,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    instead=call_directly,
)
