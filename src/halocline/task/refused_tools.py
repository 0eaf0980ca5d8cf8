"""Finds the MCP tool that a model's server named when it refused a request. Pure.

Only a tool of an MCP server is found: Halocline's own are such that every vendor takes them.
"""

import re

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events.mcp import McpTool, tool_named
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.state import State

MOST_REFUSED = 10
"""Tools that one reply may cost: each is a request."""
LEFT_OUT = "The tool {tool} of the MCP server {server} is left out for the rest of this task. {why}"
_PLACES = (
    compile_later(r"function_?declarations\W{1,3}(\d{1,4})\b", re.IGNORECASE),
    compile_later(r"\btools\W{1,4}(\d{1,4})\b"),
)
"""How servers say which tool: Gemini's place within its one tool, then everybody's place in the list."""
_ABOUT_TOOLS = compile_later(r"tool|function|schema|parameter", re.IGNORECASE)


def find_refused_tool(error: ModelError, request: Request, state: State) -> McpTool | None:
    """Return the tool whose place in the request, or whose name, a refusal has; None if it is about something else."""
    if error.kind is not ModelErrorKind.INVALID_REQUEST or not state.mcp.servers:
        return None
    names = [spec.name for spec in request.tools]
    found = next((match for pattern in _PLACES if (match := pattern.search(error.text))), None)
    if found and int(found[1]) < len(names) and (tool := tool_named(state.mcp.servers, names[int(found[1])])):
        return tool
    if not _ABOUT_TOOLS.search(error.text):
        return None
    named = (name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", error.text))
    return next((tool for name in named if (tool := tool_named(state.mcp.servers, name))), None)
