"""A call of a function by the model: its arguments in the function's types, the run, and the result as text."""

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any, get_type_hints

import msgspec

from halocline.ports import tool as port
from halocline.protocol.errors import WRONG_CALL, ToolFailure, UsageError
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject
from halocline.runtime.parts.hook_functions import settle
from halocline.sdk.context import ToolContext, describe_written
from halocline.sdk.threads import Stopped, call_in_thread, ends_task
from halocline.sdk.values import convert_value, describe_error, to_json
from halocline.tools.custom_tool import list_named

DONE = "Done."
"""The result of a tool that returns nothing, for the model."""
Function = Callable[..., Any]
Note = Callable[[BaseException], object]

_log = logging.getLogger("halocline")


async def answer_call(
    function: Function,
    tool: CustomTool,
    timeout: float | None,
    arguments: JsonObject,
    ctx: port.ToolContext,
    note: Note = lambda error: None,
) -> port.ToolOutput:
    """Return the result of a call for the model; `note` gets what the function raises. Raises ToolFailure."""
    given = read_arguments(function, tool.name, arguments, ctx)
    context = ToolContext(tool, ctx, list_named(tool, arguments))
    if name := find_context(function):
        given[name] = context
    try:
        text = describe_value(await call_function(function, tool.name, timeout, given, note))
    except ToolFailure as failure:
        if not context.events:
            raise
        text = describe_written(context, failure)
    return port.ToolOutput((Text(text),), diffs=tuple(context.diffs), events=tuple(context.events))


def read_arguments(function: Function, name: str, arguments: JsonObject, ctx: port.ToolContext) -> dict[str, Any]:
    """Return the arguments in the types of the function. Raises ToolFailure."""
    try:
        value = convert_value(arguments, build_input(function, name), ctx.workspace)
    except (ValueError, TypeError) as error:
        text = f"Invalid arguments for {name}: {error}. Nothing was run; correct them."
        raise ToolFailure(text, person=WRONG_CALL) from error
    given = {name: getattr(value, name) for name in read_parameters(function, name)}
    return {name: ctx.workspace / one if isinstance(one, PurePath) else one for name, one in given.items()}


async def call_function(
    function: Function, name: str, timeout: float | None, given: dict[str, Any], note: Note
) -> object:
    """Call the function, a sync one in a thread. Raises ToolFailure for all that it raises, which `note` gets."""
    try:
        async with asyncio.timeout(timeout) as limit:
            if inspect.iscoroutinefunction(function):
                return await settle(partial(function, **given))
            return await call_in_thread(partial(function, **given))
    except (ToolFailure, port.Overtaken):
        raise
    except BaseException as error:
        if ends_task(error):
            raise
        if limit.expired():
            raise ToolFailure(f"{name} took longer than {timeout:g} s and was ended.") from error
        _log.warning("the tool %s failed", name, exc_info=error)
        cause = (error.__cause__ or error) if isinstance(error, Stopped) else error
        note(cause)
        raise ToolFailure(f"{name} failed: {describe_error(cause)}") from error


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


def read_parameters(function: Callable[..., object], name: str) -> dict[str, Any]:
    """Return the type of each argument that the model gives. Raises UsageError."""
    try:
        hints = get_type_hints(function, include_extras=True)
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UsageError(f"The types of the tool {name} cannot be read: {error}.", "Write a function.") from error
    except NameError as error:
        raise UsageError(
            f"A type in the tool {name} is not known: {error}.", "Import it outside of functions."
        ) from error
    found: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise UsageError(
                f"The argument {parameter.name} of the tool {name} has no name for the model.",
                "Give each argument a name and a type.",
            )
        if parameter.name not in hints:
            raise UsageError(f"The argument {parameter.name} of the tool {name} has no type.", "Annotate it.")
        if hints[parameter.name] is not ToolContext:
            found[parameter.name] = hints[parameter.name]
    return found


def build_input(function: Callable[..., object], name: str) -> type[msgspec.Struct]:
    """Return a struct of the arguments that the model gives. Raises UsageError."""
    parameters = inspect.signature(function).parameters
    fields: list[Any] = []
    for argument, hint in read_parameters(function, name).items():
        default = parameters[argument].default
        kept = [] if default is inspect.Parameter.empty else [msgspec.field(default_factory=partial(_keep, default))]
        fields.append((argument, hint, *kept))
    return msgspec.defstruct(name, fields, kw_only=True)


def _keep(value: object) -> object:
    return value


def find_context(function: Callable[..., object]) -> str:
    """Return the argument that takes the context; empty if there is none."""
    hints = get_type_hints(function)
    return next((name for name, hint in hints.items() if hint is ToolContext and name != "return"), "")
