"""Converts a model's arguments to the tool's input, and accepts odd forms that have only one meaning.

Arguments that fit are not changed. Text is repaired only for the model families in `argument_repair`. The log keeps
what the model sent; the interpretation shows in the call's title, diff and result.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

AROUND = 20
"""Characters shown before and after the place where JSON is wrong."""
CHECKLIST = "todos"
"""The argument that is a to-do list."""


def input_of(arguments: JsonObject, tool: AnyTool, model: str = "") -> Any:
    """Build the tool's input. `model` is the sender as `provider/model`; empty for the user.

    Raises:
        msgspec.ValidationError: they do not fit; the error names the field.
    """
    from halocline.task.calls.argument_repair import (
        repair_arguments,  # keeps it out of a task's first request
    )

    named = repair_arguments(_rename_arguments(arguments, tool.spec), model)
    try:
        return msgspec.convert(named, tool.input, strict=False)
    except msgspec.ValidationError:
        understood = dict(_repair_values(named, tool.spec.schema))
        if understood == named:
            raise
        return msgspec.convert(understood, tool.input, strict=False)


def explain_malformed(text: str) -> str:
    """Say where JSON is wrong, as a sentence; empty if that is unknown, or a note in parentheses says it."""
    if text.startswith("("):
        return ""
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        around = text[max(0, error.pos - AROUND) : error.pos + AROUND]
        return f"In the JSON, at character {error.pos + 1} (near {around!r}): {error.msg}. "
    except RecursionError:
        return "The JSON is nested too deeply. "
    return ""


def _rename_arguments(arguments: JsonObject, spec: ToolSpec) -> JsonObject:
    """Rename aliases to the tool's parameter names, unless the name itself is present.

    Raises ValidationError if two aliases of one differ: either would be lost.
    """
    fields = spec.schema.get("properties", {})
    if arguments.keys() <= fields.keys():
        return arguments
    meant = {alias: name for alias, name in spec.aliases.items() if alias in arguments and name not in arguments}
    named: JsonObject = {}
    for key, value in arguments.items():
        if named.setdefault(name := meant.get(key, key), value) != value:
            raise msgspec.ValidationError(f"`{key}` and another argument both mean `{name}`, with different values")
    return named


def _repair_values(arguments: JsonObject, schema: JsonObject) -> Iterator[tuple[str, object]]:
    """Drop nulls for optional arguments; accept a list or object as JSON text, and a single item for a list."""
    fields, required = schema.get("properties", {}), schema.get("required", ())
    for name, value in arguments.items():
        kind = fields.get(name, {}).get("type")
        if kind in ("array", "object") and isinstance(value, str):
            value = _decode_text(value) if name != CHECKLIST else _decoded_list(value)
        if kind == "array" and isinstance(value, dict):
            value = [value]
        if value is not None or name in required:
            yield name, value


def _decoded_list(text: str) -> object:
    """Decode a to-do list, which may also be a Markdown checklist."""
    from halocline.protocol.state.todo_markdown import from_markdown

    return msgspec.to_builtins(from_markdown(text)) or _decode_text(text)


def _decode_text(text: str) -> object:
    """Decode a list or object from JSON text; otherwise return the text."""
    try:
        value = json_input.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, list | dict) else text
