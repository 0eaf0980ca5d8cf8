"""A tool of an MCP server as one of ours: its spec for the model, its summary for approval, and the call."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from halocline.context.pictures import fit_pictures
from halocline.policy.mcp import tool_name
from halocline.ports.mcp import Caller
from halocline.ports.tool import AnyTool, Overtaken, Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import McpTool, tool_named
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import Diff, ToolKind
from halocline.protocol.messages import Image, ResultPart, Text
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.tools.mcp_arguments import fit_arguments

LONGEST_TITLE = 160
NOT_HERE = "No MCP servers are available in this task. Nothing was run; continue without it."


def find_tool(name: str, state: State) -> AnyTool | None:
    """Return the server tool that the model calls by this name, or None."""
    tool = tool_named(state.mcp.servers, name)
    return build_tool(tool) if tool else None


def list_specs(state: State) -> tuple[ToolSpec, ...]:
    """Return the specs offered in full, in an order that does not depend on which server connected first."""
    listed = (server for server in sorted(state.mcp.servers, key=lambda each: each.name) if not server.searched)
    refused = state.mcp.refused_by(state.model.name)
    return tuple(spec_of(tool) for server in listed for tool in server.tools if tool.name not in refused)


def spec_of(tool: McpTool) -> ToolSpec:
    """Return the spec for the model; the description is the server's."""
    description = tool.description or f"The tool {tool.tool}."
    return ToolSpec(tool.name, f"[{tool.server}] {description}", tool.schema, reads=tool.read_only)


def build_tool(tool: McpTool) -> AnyTool:
    """Build a tool that calls the server. `read_only` is its claim; the gate trusts it only if a rule says so."""
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
    # The names of arguments are the server's own again, with whatever is hidden in them.
    title, detail = describe_call(tool.subject, fit_arguments(input, tool))
    return Summary(
        title=title,
        kind=ToolKind.READ if tool.read_only else ToolKind.EXECUTE,
        mcp=tool_name(tool.server, tool.tool),
        read_only=tool.read_only,
        definition=tool.digest,
        changed=bool(tool.changed),
        detail=detail,
    )


def describe_call(name: str, given: JsonObject) -> tuple[str, str]:
    """Return a title for a call with these arguments, and what a person decides on."""
    shown = msgspec.json.encode(given).decode() if given else ""
    title = make_printable(f"{name} {shown}".rstrip())
    detail = f"{name}\n{msgspec.json.format(shown, indent=2) if shown else '(no arguments)'}"
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    return title, "\n".join(map(make_printable, detail.split("\n")))


async def preview(tool: McpTool, input: JsonObject, ctx: ToolContext) -> tuple[Diff, ...]:
    """Return the diff between the definition that the user knew and the current one."""
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
            return None  # the server sees a cancelled question; the call itself continues

    sent = fit_arguments(input, tool)
    content = await ctx.host.mcp.call(
        tool, sent, Caller(ctx.call.id, ctx.report, ask, traceparent=ctx.call.traceparent)
    )
    return await show_content(content, ctx)


async def show_content(content: tuple[ResultPart, ...], ctx: ToolContext) -> ToolOutput:
    """Return what a server gave; its images become a line of text for a model that cannot view them."""
    if ctx.task.takes_images():
        return ToolOutput(await fit_pictures(content, ctx.host.documents, ctx.host.blobs))
    unseen = "[an image, {0.media_type}, stored as {0.blob}; this model cannot view images]"
    return ToolOutput(tuple(Text(unseen.format(part)) if isinstance(part, Image) else part for part in content))
