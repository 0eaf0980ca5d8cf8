"""A tool of an MCP server, as one of ours: what the model is told, what a person decides on, and the call."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from halocline.policy.mcp import tool_name
from halocline.ports.mcp import Caller
from halocline.ports.tool import AnyTool, Overtaken, Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff, ToolKind
from halocline.protocol.mcp import McpTool, tool_named
from halocline.protocol.messages import Image, ResultPart, Text
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject

LONGEST_TITLE = 160
NOT_HERE = "No MCP servers run in this task. Nothing was run; go on without it."


def find_tool(name: str, state: State) -> AnyTool | None:
    """The tool of a server that the model calls so."""
    tool = tool_named(state.mcp, name)
    return build_tool(tool) if tool else None


def list_specs(state: State) -> tuple[ToolSpec, ...]:
    """What the model is told in full, in an order that does not depend on which server came first."""
    told = (server for server in sorted(state.mcp, key=lambda each: each.name) if not server.searched)
    return tuple(spec_of(tool) for server in told for tool in server.tools)


def spec_of(tool: McpTool) -> ToolSpec:
    """As the model is told of it; the words are the server's."""
    said = tool.description or f"The tool {tool.tool}."
    return ToolSpec(tool.name, f"[{tool.server}] {said}", tool.schema)


def build_tool(tool: McpTool) -> AnyTool:
    """A tool that asks the server. That it only reads is a claim, which the gate believes where a rule says so."""
    kind = ToolKind.READ if tool.read_only else ToolKind.EXECUTE
    return Tool(
        spec=spec_of(tool),
        kind=kind,
        input=dict[str, Any],
        summary=partial(summary, tool),
        run=partial(run, tool),
        edits=not tool.read_only,
        preview=partial(preview, tool) if tool.changed else None,
    )


def summary(tool: McpTool, input: JsonObject) -> Summary:
    given = msgspec.json.encode(input).decode() if input else ""
    title = f"{tool.subject} {given}".rstrip()
    return Summary(
        title=title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…",
        kind=ToolKind.READ if tool.read_only else ToolKind.EXECUTE,
        mcp=tool_name(tool.server, tool.tool),
        read_only=tool.read_only,
        definition=tool.digest,
        changed=bool(tool.changed),
        detail=f"{tool.subject}\n{msgspec.json.format(given, indent=2) if given else '(no arguments)'}",
    )


async def preview(tool: McpTool, input: JsonObject, ctx: ToolContext) -> tuple[Diff, ...]:
    """How the definition differs from the one that the person knew."""
    lines = tool.changed.splitlines()
    added, removed = (
        sum(line.startswith(sign) and not line.startswith(3 * sign) for line in lines) for sign in ("+", "-")
    )
    return (Diff(f"definition of {tool.subject}", tool.changed, added, removed),)


async def run(tool: McpTool, input: JsonObject, ctx: ToolContext) -> ToolOutput:
    if ctx.host.mcp is None:
        raise ToolFailure(NOT_HERE)

    async def ask(question: str, options: Sequence[str]) -> str | None:
        try:
            return await ctx.ask(question, options, ctx.call.id)
        except Overtaken:
            return None  # for the server it is cancelled; the call itself goes on

    content = await ctx.host.mcp.call(tool, input, Caller(ctx.call.id, ctx.report, ask))
    return ToolOutput(with_readable_images(content, takes_images=ctx.task.takes_images()))


def with_readable_images(content: tuple[ResultPart, ...], *, takes_images: bool) -> tuple[ResultPart, ...]:
    """The same, with pictures named for a model that cannot see them."""
    if takes_images:
        return content
    return tuple(
        Text(f"[a picture, {part.media_type}, kept as {part.blob}; this model does not take pictures]")
        if isinstance(part, Image)
        else part
        for part in content
    )
