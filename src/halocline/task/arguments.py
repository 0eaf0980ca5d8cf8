"""From the arguments that a model sent to the tool's input: odd habits are understood where one thing alone is meant.

What fits as it is stays as it is. Text is never repaired.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from halocline.ports.tool import AnyTool
from halocline.protocol.values import JsonObject


def input_of(arguments: JsonObject, tool: AnyTool) -> Any:
    """The tool's input. Raises msgspec.ValidationError, which names the field."""
    try:
        return msgspec.convert(arguments, tool.input, strict=False)
    except msgspec.ValidationError:
        understood = dict(_understood(arguments, tool.spec.schema))
        if understood == arguments:
            raise
        return msgspec.convert(understood, tool.input, strict=False)


def _understood(arguments: JsonObject, schema: JsonObject) -> Iterator[tuple[str, object]]:
    """A null for what may be left out is left out; a list or an object may come as JSON text, a list of one alone."""
    fields, required = schema.get("properties", {}), schema.get("required", ())
    for name, value in arguments.items():
        kind = fields.get(name, {}).get("type")
        if kind in ("array", "object") and isinstance(value, str):
            value = _decoded(value)
        if kind == "array" and isinstance(value, dict):
            value = [value]
        if value is not None or name in required:
            yield name, value


def _decoded(text: str) -> object:
    """The list or object that the text is; otherwise the text."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, list | dict) else text
