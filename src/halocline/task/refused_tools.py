"""Finds the MCP tool that a model's server named when it refused a request. Pure.

Only a tool of an MCP server is found: Halocline's own are such that every vendor takes them.
"""

import re

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import Event, McpToolRefused, Noticed
from halocline.protocol.events.mcp import SEPARATOR, McpTool, tool_named
from halocline.protocol.file_names import make_printable
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.state import State

MOST_REFUSED = 10
"""Tools that one reply may cost: each is a request."""
LEFT_OUT = "The tool {tool} of the MCP server {server} is left out for this model. {why}"
_PLACES = (
    compile_later(r"function_?declarations\W{1,3}(\d{1,4})\b", re.IGNORECASE),
    compile_later(r"\btools\W{1,4}(\d{1,4})\b"),
)
"""How servers say which tool: Gemini's place within its one tool, then everybody's place in the list."""
_ABOUT_TOOLS = compile_later(r"tool|function|schema|parameter", re.IGNORECASE)
_ABOUT_MESSAGES = compile_later(r"\b(messages|contents|input)\W{1,4}\d|\btool_(calls?|use|result)\b")
"""Places of calls and results, whose tool is not what is wrong."""


def report_tool(error: ModelError, request: Request, state: State, refused: int) -> list[Event]:
    """Return the events that leave the refused tool out of later requests; none after too many, or if it is none."""
    if refused >= MOST_REFUSED or (tool := find_refused_tool(error, request, state)) is None:
        return []
    said = LEFT_OUT.format(tool=make_printable(tool.tool), server=tool.server, why=error.text)
    return [McpToolRefused(tool=tool.name, why=error.text, model=request.model), Noticed(said)]


def find_refused_tool(error: ModelError, request: Request, state: State) -> McpTool | None:
    """Return the tool that a refusal is about, by its name or its place; None if it is about something else.

    Of several tools it is the one that is named first: the words behind a name are about that tool.
    """
    if error.kind is not ModelErrorKind.INVALID_REQUEST or not state.mcp.servers:
        return None
    said = error.said or error.text
    names = [spec.name for spec in request.tools]
    place = next((int(match[1]) for pattern in _PLACES if (match := pattern.search(said))), None)
    if place is None and (_ABOUT_MESSAGES.search(said) or not _ABOUT_TOOLS.search(said)):
        return None
    named = [(match.start(), name) for name in names if (match := _find_name(name, said))]
    if named:
        return tool_named(state.mcp.servers, min(named)[1])
    return tool_named(state.mcp.servers, names[place]) if place is not None and place < len(names) else None


def _find_name(name: str, said: str) -> re.Match[str] | None:
    """Find the name of a tool. One of our own is an ordinary word, too, so it counts in quotation marks only."""
    marks = ("", "") if SEPARATOR in name else ("[\"'`]", "[\"'`]")
    return re.search(rf"(?<![\w-]){marks[0]}{re.escape(name)}{marks[1]}(?![\w-])", said)
