"""Conversion of a server's tools, prompts, resources and progress to our types."""

from typing import Any

import mcp_types as types

from halocline.context.tool_schemas import normalize_schema
from halocline.mcp.tool_names import LONGEST_DESCRIPTION, digest_tool, name_for, plain_text
from halocline.ports.mcp import McpPrompt, PromptArgument
from halocline.ports.tool import LONGEST_EVERYWHERE
from halocline.protocol.events.mcp import McpTool


def tool_of(server: str, tool: types.Tool) -> McpTool:
    """Convert one of a server's tools."""
    hints = tool.annotations
    read_only = bool(hints and hints.read_only_hint and not hints.destructive_hint)
    schema = dict(tool.input_schema)
    normal = normalize_schema(schema)
    # A sentence of ours must stay whole behind a description, the server's name before it, for every vendor.
    most = LONGEST_EVERYWHERE - len(f"[{server}] \n{normal.said}") if normal.said else LONGEST_DESCRIPTION
    words = plain_text(tool.description or tool.title or "", max(0, most))
    return McpTool(
        name=name_for(server, tool.name),
        server=server,
        tool=tool.name,
        description=f"{words}\n{normal.said}".strip(),
        schema=normal.schema,
        renamed=normal.renamed,
        read_only=read_only,
        digest=digest_tool(tool.name, tool.description, schema, hints.model_dump(mode="json") if hints else None),
    )


def prompt_of(server: str, prompt: types.Prompt) -> McpPrompt:
    """Convert one of a server's prompts."""
    arguments = [
        PromptArgument(plain_text(each.name, 100), plain_text(each.description or "", 300), bool(each.required))
        for each in prompt.arguments or ()
    ]
    return McpPrompt(server, prompt.name, plain_text(prompt.description or prompt.title or "", 300), tuple(arguments))


def describe_resource(each: Any) -> str:
    """Describe a resource or resource template in one line."""
    uri = getattr(each, "uri", None) or getattr(each, "uri_template", "")
    words = plain_text(" ".join(filter(None, (each.title or each.name, each.description))), 200)
    return f"{plain_text(str(uri), 1_000)}  {' '.join(words.split())}"


def progress_of(done: float, total: float | None, message: str | None) -> str:
    """Describe a call's progress in one line."""
    counted = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{counted} {plain_text(message or '', 300)}".rstrip() + "\n"
