"""Convert a tool's JSON schema to the subset that Gemini's function declarations accept. Pure.

Constraints outside the subset are dropped or loosened: the tool checks its arguments itself.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from halocline.context.tool_schemas import normalize_schema
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

_SIZES = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum")
_KEPT = frozenset({"type", "format", "description", "enum", "required", *_SIZES})
_FORMATS = ("date-time", "float", "double", "int32", "int64")


def gemini_parameters(schema: Mapping[str, Any]) -> JsonObject | None:
    """Return a function declaration's parameters; None when there are none, as Gemini rejects an empty object."""
    accepted = _convert_encoded(msgspec.json.encode(schema))
    return accepted if accepted.get("properties") else None


@lru_cache(1000)
def _convert_encoded(schema: bytes) -> JsonObject:
    """Convert a schema once: every request of a task has the same tools."""
    return _convert_schema(normalize_schema(json_input.decode(schema)).schema)


def _convert_schema(schema: JsonObject) -> JsonObject:
    """Convert a schema in the normal form."""
    choices = _list_choices(schema)
    real = [one for one in choices if one.get("type") != "null"]
    about = {"description": schema["description"]} if "description" in schema else {}
    match real:
        case []:
            accepted = _convert_plain(schema)
        case [one]:
            accepted = _convert_plain(one) | about
        case _:
            accepted = {"anyOf": [_convert_plain(one) for one in real]} | about
    return accepted | ({"nullable": True} if len(real) < len(choices) else {})


def _list_choices(schema: JsonObject) -> list[JsonObject]:
    """List a schema's alternatives, each complete; those of one type have no description of their own."""
    if isinstance(kinds := schema.get("type"), list):
        whole = {name: value for name, value in schema.items() if name != "description"}
        return [{**whole, "type": kind} for kind in kinds]
    return [each for one in schema.get("anyOf", ()) for each in _list_choices(one) or [one]]


def _convert_plain(schema: JsonObject) -> JsonObject:
    """Convert a schema of one type."""
    accepted = {name: value for name, value in schema.items() if name in _KEPT}
    if accepted.get("format") not in _FORMATS:
        accepted.pop("format", None)
    if not all(isinstance(value, str) and value for value in schema.get("enum", ())):
        del accepted["enum"]  # Gemini rejects enums of anything but strings, empty ones,
    if accepted.get("type") == "object" and (properties := schema.get("properties")):
        accepted["properties"] = {name: _convert_schema(one) for name, one in properties.items()}
    else:
        accepted.pop("required", None)
    if accepted.get("type") == "array":
        # and arrays without items.
        accepted["items"] = _convert_schema(schema.get("items", {})) or {"type": "string"}
    return accepted
