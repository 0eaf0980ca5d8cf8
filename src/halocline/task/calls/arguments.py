"""From the arguments that a model sent to the tool's input: odd habits are understood where one thing alone is meant.

What fits as it is stays as it is. Text is mended only for the families of models that `argument_repair` lists. The log
keeps what the model said; what was understood shows in the call's title, its diff and its result.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

CHECKLIST = "todos"
"""The argument that is a to-do list."""


def input_of(arguments: JsonObject, tool: AnyTool, model: str = "") -> Any:
    """The tool's input. `model` is who sent the arguments, as `provider/model`; empty for a person.

    Raises:
        msgspec.ValidationError: they do not fit; the error names the field.
    """
    from halocline.task.calls.argument_repair import (
        repair_arguments,  # the first request of a task must not wait for it
    )

    named = repair_arguments(_rename_arguments(arguments, tool.spec), model)
    try:
        return msgspec.convert(named, tool.input, strict=False)
    except msgspec.ValidationError:
        understood = dict(_repair_values(named, tool.spec.schema))
        if understood == named:
            raise
        return msgspec.convert(understood, tool.input, strict=False)


def _rename_arguments(arguments: JsonObject, spec: ToolSpec) -> JsonObject:
    """The arguments by the tool's own names. A parameter that is there under its name, or under two others, stays."""
    fields = spec.schema.get("properties", {})
    if arguments.keys() <= fields.keys():
        return arguments
    meant = {alias: name for alias, name in spec.aliases.items() if alias in arguments and name not in arguments}
    targets = list(meant.values())
    return {meant[key] if key in meant and targets.count(meant[key]) == 1 else key: arguments[key] for key in arguments}


def _repair_values(arguments: JsonObject, schema: JsonObject) -> Iterator[tuple[str, object]]:
    """A null for what may be left out is left out; a list or an object may come as JSON text, a list of one alone."""
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
    """The same of a to-do list, which may also be a Markdown checklist."""
    from halocline.protocol.state.todo_markdown import from_markdown

    return msgspec.to_builtins(from_markdown(text)) or _decode_text(text)


def _decode_text(text: str) -> object:
    """The list or object that the text is; otherwise the text."""
    try:
        value = json_input.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, list | dict) else text
