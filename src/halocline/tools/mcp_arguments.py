"""Arguments for a tool of an MCP server: fitted to its schema as those of own tools are, under the server's names.

What must stay true: what fits is not changed, and a value is changed only where its text has one meaning as the type
that the schema wants. A schema may be of any form: older logs have them as servers gave them.
"""

import re
from typing import Any

import msgspec

from halocline.protocol import json_input
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.values import JsonObject

_INTEGER, _NUMBER = re.compile(r"-?\d{1,15}"), re.compile(r"-?\d{1,15}(\.\d{1,15})?([eE][+-]?\d{1,2})?")
_TYPES = dict[str, Any](null=type(None), boolean=bool, string=str, array=list, integer=int, number=(int, float))
"""The values of a schema's types; all others are objects. In Python alone, a boolean is a number."""


def fit_arguments(arguments: JsonObject, tool: McpTool) -> JsonObject:
    """Return the arguments as they are sent; the same object if there is nothing to do."""
    fitted = _fit_fields(arguments, tool.schema)
    named = _rename_back(fitted, tool.renamed) if tool.renamed else fitted
    return arguments if named == arguments and repr(named) == repr(arguments) else named


def fit_value(value: Any, schema: Any) -> Any:
    """Fit a value to the first of the schema's choices that has a meaning for it."""
    if not isinstance(schema, dict):
        return value
    kinds = _list_kinds(schema)
    if kinds and not any(_is_of_kind(value, kind) for kind in kinds):
        value = next((found for kind in kinds if (found := _convert_value(value, kind)) is not None), value)
    match value:
        case dict():
            return _fit_fields(value, schema)
        case list():
            return [fit_value(one, schema.get("items")) for one in value]
    return value


def _fit_fields(value: JsonObject, schema: JsonObject) -> JsonObject:
    fields, needed = schema.get("properties"), schema.get("required")
    fields, needed = fields if isinstance(fields, dict) else {}, needed if isinstance(needed, list) else ()
    return {
        key: fit_value(one, fields.get(key))
        for key, one in value.items()
        if one is not None or key in needed or _takes_null(fields.get(key))
    }


def _list_kinds(schema: Any) -> list[str]:
    """List the types of a schema and its choices, in their order; none if it allows anything."""
    if not isinstance(schema, dict):
        return []
    if isinstance(choices := schema.get("anyOf"), list) and choices:
        of_each = [_list_kinds(one) for one in choices]
        return [kind for kinds in of_each for kind in kinds] if all(of_each) else []
    kind = schema.get("type")
    return kind if isinstance(kind, list) else [kind] if kind else []


def _takes_null(schema: Any) -> bool:
    kinds = _list_kinds(schema)
    return not kinds or "null" in kinds


def _is_of_kind(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES.get(str(kind), dict)) and isinstance(value, bool) <= (kind == "boolean")


def _convert_value(value: Any, kind: str) -> Any:
    """Return a value as another type; None if it has no meaning there."""
    match kind, value:
        case "integer", float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case "integer", str() if _INTEGER.fullmatch(value):
            return int(value)
        case "number", str() if _NUMBER.fullmatch(value):
            return int(value) if _INTEGER.fullmatch(value) else float(value)
        case "string", int() if not isinstance(value, bool):
            return str(value)
        case "boolean", str() if value.lower() in ("true", "false"):
            return value.lower() == "true"
        case (("array" | "object"), str()):
            return found if _is_of_kind(found := _decode_text(value), kind) else None
        case "array", dict():
            return [value]
    return None


def _decode_text(text: str) -> Any:
    try:
        return json_input.decode(text)
    except msgspec.DecodeError:
        return None


def _rename_back(value: Any, renamed: dict[str, str]) -> Any:
    match value:
        case dict():
            return {renamed.get(key, key): _rename_back(one, renamed) for key, one in value.items()}
        case list():
            return [_rename_back(one, renamed) for one in value]
    return value
