"""A tool of the program that runs the task as one of ours: its spec for the model, its summary, and the call.

What must stay true: all of it but the run follows from the log, so a replay judges the calls in the same way.
"""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from halocline.ports.tool import AnyTool, Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.kinds import Location, ToolKind
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.tools.mcp_arguments import fit_value
from halocline.tools.mcp_tool import describe_call

KINDS = {
    "": ToolKind.EXECUTE,
    "reads": ToolKind.READ,
    "edits": ToolKind.EDIT,
    "network": ToolKind.FETCH,
}
ANYWHERE = "."
"""What a tool may read that names no files: the workspace."""
NOT_HERE = "The program that brought the tool {name} does not run this task now. Nothing was run; continue without it."


def find_tool(name: str, state: State) -> AnyTool | None:
    """Return the program's tool of this name, or None."""
    return next((build_tool(tool) for tool in state.prompt.custom_tools if tool.name == name), None)


def list_specs(state: State) -> tuple[ToolSpec, ...]:
    """Return the specs of the program's tools, in its order."""
    return tuple(map(spec_of, state.prompt.custom_tools))


def spec_of(tool: CustomTool) -> ToolSpec:
    """Return the spec for the model."""
    return ToolSpec(tool.name, tool.description, tool.schema, reads=tool.effect == "reads")


def build_tool(tool: CustomTool) -> AnyTool:
    """Build the tool. One that says nothing of its effect runs alone, as a command does."""
    return Tool(
        spec=spec_of(tool),
        kind=KINDS[tool.effect],
        input=dict[str, Any],
        summary=partial(summary, tool),
        run=partial(run, tool),
        edits=tool.effect in ("", "edits"),
    )


def summary(tool: CustomTool, input: JsonObject) -> Summary:
    """Say what a call will touch: the files and addresses among its arguments, and what the tool itself may do.

    Raises ToolFailure if the arguments do not fit.
    """
    given = fit_value(input, tool.schema)
    _require_fitting(tool, given)
    named = list_named(tool, given)
    title, detail = describe_call(tool.name, given)
    return Summary(
        title=title,
        kind=KINDS[tool.effect],
        paths=named or ((ANYWHERE,) if tool.effect in ("", "reads") else ()),
        locations=tuple(map(Location, named)),
        url=next((text for name in tool.urls for text in _list_texts(given.get(name))), ""),
        custom=f"{tool.name} as it is defined now ({name_definition(tool)})",
        anywhere=tool.effect == "" or (tool.effect == "edits" and not named),
        detail=detail,
    )


def list_named(tool: CustomTool, given: JsonObject) -> tuple[str, ...]:
    """Return the files that the arguments name."""
    return tuple(text for name in tool.paths for text in _list_texts(given.get(name)))


def name_definition(tool: CustomTool) -> str:
    """Return the hash of a tool's definition: what was allowed always is allowed no more when that changes."""
    return sha256(msgspec.json.encode(tool)).hexdigest()[:12]


async def run(tool: CustomTool, input: JsonObject, ctx: ToolContext) -> ToolOutput:
    if ctx.host.program is None:
        raise ToolFailure(NOT_HERE.format(name=tool.name))
    return await ctx.host.program.call(tool, fit_value(input, tool.schema), ctx)


def _require_fitting(tool: CustomTool, given: JsonObject) -> None:
    """Raise ToolFailure if an argument is missing or unknown: no one need be asked about such a call."""
    fields = tool.schema.get("properties", {})
    problems = [f"the argument {name!r} is missing" for name in tool.schema.get("required", ()) if name not in given]
    problems += [f"there is no argument {name!r}" for name in given if name not in fields]
    if problems:
        known = ", ".join(fields) or "none"
        raise ToolFailure(f"{tool.name} was not run: {'; '.join(problems)}. Its arguments: {known}.")


def _list_texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            yield from (one for one in value if isinstance(one, str))
