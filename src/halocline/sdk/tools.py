"""A function as a tool: its schema from its parameters, its description from its docstring.

What must stay true: what is wrong with a function is said where it is decorated, not when a model calls it.
"""

import inspect
import re
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar, get_args, overload

from halocline.context.tool_schemas import normalize_schema
from halocline.ports import tool as port
from halocline.protocol.errors import UsageError
from halocline.protocol.events.custom_tools import CustomTool, Effect
from halocline.protocol.values import JsonObject
from halocline.sdk.calling import answer_call, build_input, read_parameters
from halocline.sdk.judged import find_paths, find_url
from halocline.sdk.values import build_schema, describe_type

P = ParamSpec("P")
R = TypeVar("R")

EFFECTS = get_args(Effect)
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
_SECTION = re.compile(r"^(args|arguments|parameters|returns|raises|yields|examples?):?\s*$", re.IGNORECASE)
_PARAMETER = re.compile(r"^\s+\*{0,2}(\w+)(?:\s*\([^)]*\))?\s*:\s*(.+)$")


class Tool(Generic[P, R]):
    """A function that the model may call. Calling this calls the function itself."""

    def __init__(self, function: Callable[P, R], definition: CustomTool, timeout: float | None) -> None:
        self.function = function
        self.definition = definition
        self.timeout = timeout
        self.__name__ = definition.name
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name}>"

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self.definition.name

    async def answer(self, arguments: JsonObject, ctx: port.ToolContext) -> port.ToolOutput:
        """Run the function for a call of the model. Raises ToolFailure."""
        return await answer_call(self.function, self.definition, self.timeout, arguments, ctx)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *, name: str = "", description: str = "", effect: Effect = "", timeout: float | None = None
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    effect: Effect = "",
    timeout: float | None = None,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool of a typed function, sync or async, that has a docstring.

    Args:
        name: as the model calls it; the function's own name if left out.
        description: for the model; the docstring up to its first section if left out.
        effect: `"reads"` changes nothing, `"edits"` changes files, `"network"` reaches servers. Left out, it may do
            anything, and each call needs approval. Arguments of type `Path` and `Url` are judged as the tool's own.
        timeout: in seconds; then the call fails. No limit if left out.

    Raises:
        UsageError: the function cannot be a tool; the text says why.
    """
    if function is None:
        return lambda given: tool_of(given, name, description, effect, timeout)
    return tool_of(function, name, description, effect, timeout)


def tool_of(function: Callable[P, R], name: str, description: str, effect: Effect, timeout: float | None) -> Tool[P, R]:
    """Make the tool. Raises UsageError."""
    name = name or getattr(function, "__name__", "")
    described, arguments = read_docstring(inspect.getdoc(function) or "")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a tool.", "Use letters, digits and underscores: name=…")
    if not (description or described):
        raise UsageError(f"The tool {name} has no description.", "Write a docstring: the model reads it.")
    if effect not in EFFECTS:
        known = ", ".join(map(repr, EFFECTS[1:]))
        raise UsageError(f"{effect!r} is no effect of a tool.", f"Declare one of {known}, or none.")
    hints = read_parameters(function, name)
    schema = normalize_schema(build_schema(build_input(function, name))).schema
    for argument, text in arguments.items():
        if argument in schema.get("properties", {}):
            schema["properties"][argument] = {"description": text, **schema["properties"][argument]}
    definition = CustomTool(
        name=name,
        description=description or described,
        schema=schema,
        effect=effect,
        paths=find_paths(hints, name),
        urls=find_url(hints, name, effect),
    )
    return Tool(function, definition, timeout)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description, up to the first section, and what the section of arguments says of each."""
    lines = text.strip().splitlines()
    first = next((at for at, line in enumerate(lines) if _SECTION.match(line)), len(lines))
    arguments: dict[str, str] = {}
    for line in lines[first + 1 :] if first < len(lines) and lines[first][:1] in "aApP" else ():
        if _SECTION.match(line):
            break
        if found := _PARAMETER.match(line):
            arguments[found[1]] = found[2].strip()
        elif arguments and line.strip():
            last = next(reversed(arguments))
            arguments[last] += f" {line.strip()}"
    return "\n".join(lines[:first]).strip(), arguments


def name_tool(given: object) -> str:
    """Return a tool's name, or the type of what is none."""
    return given.name if isinstance(given, Tool) else describe_type(type(given))
