"""The program's side of its tasks: runs its tools."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

import msgspec

from halocline.ports import tool as port
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject
from halocline.sdk.context import ToolContext, describe_written
from halocline.sdk.raised import Raised
from halocline.sdk.threads import Stopped, call_in_thread, is_cancelled
from halocline.sdk.tools import Tool, build_input, find_context, name_tool, read_parameters
from halocline.sdk.values import convert_value, describe_error, to_json
from halocline.tools.custom_tool import NOT_HERE, list_named

DONE = "Done."
"""The result of a tool that returns nothing, for the model."""

_log = logging.getLogger("halocline")


class ProgramTools:
    """Implements `ports.program.Program` with decorated functions."""

    def __init__(self, tools: Sequence[Tool[..., Any]], raised: Raised) -> None:
        """Raises UsageError if one is no tool, or two have the same name."""
        self._raised = raised
        for given in tools:
            if not isinstance(given, Tool):
                raise UsageError(f"{name_tool(given)} is no tool.", "Decorate the function: @halocline.tool")
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) < len(tools):
            raise UsageError("Two tools have the same name.", "Give one another: @halocline.tool(name=…)")
        self.definitions = tuple(tool.definition for tool in tools)

    async def call(self, tool: CustomTool, arguments: JsonObject, ctx: port.ToolContext) -> port.ToolOutput:
        if (found := self._tools.get(tool.name)) is None:
            raise ToolFailure(NOT_HERE.format(name=tool.name))
        given = read_arguments(found, arguments, ctx)
        context = ToolContext(tool, ctx, list_named(tool, arguments))
        if name := find_context(found.function):
            given[name] = context
        try:
            text = describe_value(await call_function(found, given, partial(self._raised.note_call, ctx.call.id)))
        except ToolFailure as failure:
            if not context.events:
                raise
            text = describe_written(context, failure)
        return port.ToolOutput((Text(text),), diffs=tuple(context.diffs), events=tuple(context.events))


def read_arguments(tool: Tool[..., Any], arguments: JsonObject, ctx: port.ToolContext) -> dict[str, Any]:
    """Return the arguments in the types of the function. Raises ToolFailure."""
    try:
        value = convert_value(arguments, build_input(tool.function, tool.name), ctx.workspace)
    except (ValueError, TypeError) as error:
        raise ToolFailure(f"Invalid arguments for {tool.name}: {error}. Nothing was run; correct them.") from error
    given = {name: getattr(value, name) for name in read_parameters(tool.function, tool.name)}
    return {name: ctx.workspace / one if isinstance(one, PurePath) else one for name, one in given.items()}


async def call_function(tool: Tool[..., Any], given: dict[str, Any], note: Callable[[BaseException], None]) -> object:
    """Call the function, a sync one in a thread. Raises ToolFailure for all that it raises, which `note` gets."""
    try:
        async with asyncio.timeout(tool.timeout) as limit:
            if inspect.iscoroutinefunction(tool.function):
                return await tool.function(**given)
            return await call_in_thread(partial(tool.function, **given))
    except (ToolFailure, port.Overtaken):
        raise
    except (Exception, asyncio.CancelledError, SystemExit) as error:
        if is_cancelled(error):
            raise
        if limit.expired():
            raise ToolFailure(f"{tool.name} took longer than {tool.timeout:g} s and was ended.") from error
        _log.warning("the tool %s failed", tool.name, exc_info=error)
        cause = (error.__cause__ or error) if isinstance(error, Stopped) else error
        note(cause)
        raise ToolFailure(f"{tool.name} failed: {describe_error(cause)}") from error


def describe_value(value: object) -> str:
    """Return what the model reads of a tool's result. Raises ToolFailure if it has no text."""
    if value is None:
        return DONE
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        raise ToolFailure("The tool ran, but returned bytes, which no model reads.")
    try:
        return msgspec.json.encode(to_json(value)).decode()
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise ToolFailure(f"The tool ran, but its result cannot be shown: {error}") from error
