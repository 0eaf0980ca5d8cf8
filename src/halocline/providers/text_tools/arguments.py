"""A call's arguments as markup: parse what a model wrote, and write arguments back for its history.

Arguments that the schema does not allow are never repaired: the call then has none.
"""

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from halocline.protocol import json_input
from halocline.protocol.values import JsonObject
from halocline.providers.reply import parse_arguments
from halocline.providers.text_tools.tags import WHOLE, ToolTags

_SCALARS: dict[str, type[int] | type[float] | type[bool]] = {"integer": int, "number": float, "boolean": bool}
_NOTHING = frozenset({"", "null", "none", "…", "..."})
_LEFT_OPEN = frozenset({"…", "..."})
"""What stands for a value in descriptions; as the value of an optional parameter it is none."""


class Undecodable(Exception):
    """The text does not match the tool's schema."""


def read_arguments(body: str, tool: ToolTags) -> JsonObject | None:
    """Decode the arguments in a call's body; None when they do not decode.

    A body without parameters may be one JSON object, or the value of the tool's only required parameter.
    """
    try:
        values = dict(_list_values(body, tool))
        if not values:
            return _parse_bare(body.strip(), tool)
        decoded = ((name, _decode_value(text, tool, name)) for name, text in values.items())
        return {name: value for name, value in decoded if value is not None}
    except Undecodable:
        return None


def write_arguments(arguments: JsonObject) -> str:
    """Write the body of a call with these arguments."""
    return "".join(f"\n<{name}>{_write_value(name, value)}</{name}>" for name, value in arguments.items()) + "\n"


def _list_values(body: str, tool: ToolTags) -> Iterator[tuple[str, str]]:
    """Yield each parameter in the body with its text. Raises Undecodable when one has no closing tag."""
    at = 0
    while found := tool.openings.search(body, at):
        tag, start = found[0][1:-1], found.end()
        name, closing = tool.parameters[tag], f"</{tag}>"
        end = body.rfind(closing, start) if name in WHOLE else body.find(closing, start)
        if end < 0:
            raise Undecodable
        yield name, _trim_value(name, body[start:end])
        at = end + len(closing)


def _trim_value(name: str, text: str) -> str:
    """Strip surrounding blanks; possible file content keeps its indentation and final newline."""
    if name not in WHOLE:
        return text.strip()
    text = text.removeprefix("\r").removeprefix("\n")
    kept = text.rstrip(" \t")
    return kept if kept.endswith("\n") or not kept else text


def _decode_value(text: str, tool: ToolTags, name: str) -> object:
    """Decode a parameter's value; None for an optional one given as empty, null or none."""
    kind = tool.fields[name].get("type", "string")
    if kind == "string":
        return None if text.strip() in _LEFT_OPEN and name not in tool.required else text
    if text.casefold() in _NOTHING and name not in tool.required:
        return None
    if scalar := _SCALARS.get(kind):
        with suppress(msgspec.ValidationError):
            return msgspec.convert(text, scalar, strict=False)
        raise Undecodable
    return _decode_structure(text, kind)


def _decode_structure(text: str, kind: str) -> object:
    """Decode a JSON array or object; a single object becomes a list of one where the schema wants a list."""
    try:
        value = json_input.decode(text)
    except msgspec.DecodeError:
        raise Undecodable from None
    if kind == "array" and isinstance(value, dict):
        return [value]
    if not isinstance(value, list if kind == "array" else dict):
        raise Undecodable
    return value


def _parse_bare(body: str, tool: ToolTags) -> JsonObject:
    if not body:
        return {}
    if body.startswith("{"):
        arguments = parse_arguments(body)
        if arguments is not None and set(arguments) <= set(tool.fields):
            return arguments
        raise Undecodable
    if len(tool.required) == 1 and body[0] not in '<["':
        (name,) = tool.required
        if tool.fields[name].get("type") == "string":
            return {name: body}
    raise Undecodable


def _write_value(name: str, value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"\n{text}" if name in WHOLE else text
