"""Tools from their parts, and the JSON schemas of their inputs as models read them: one plain object, no references,
titles or defaults.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

import msgspec

from halocline.ports.tool import InputT, Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.kinds import ToolKind
from halocline.protocol.values import JsonObject

READING = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.THINK})
_DROPPED = frozenset({"title", "default"})


def define_tool(
    name: str,
    description: str,
    kind: ToolKind,
    input: type[InputT],
    summary: Callable[[InputT], Summary] | str,
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutput]],
    *,
    unsaid: tuple[str, ...] = (),
    required: Sequence[str] = (),
    **more: Any,
) -> Tool[InputT]:
    """Define the tool of a module. `unsaid` and `required` are those of `schema_of`, `more` other fields of `Tool`.

    A `summary` that says only what is done is its text, with the input as `{0}`.
    """
    if isinstance(summary, str):
        title = summary
        summary = lambda input: Summary(title.format(input), kind)
    spec = ToolSpec(name, description, schema_of(input, unsaid, required), unsaid, kind in READING)
    return Tool(spec=spec, kind=kind, input=input, summary=summary, run=run, **more)


def schema_of(kind: type[msgspec.Struct], unsaid: Collection[str] = (), required: Sequence[str] = ()) -> JsonObject:
    """Return the JSON schema of a struct; `msgspec.Meta(description=…)` describes a field, a default makes it optional.

    `unsaid` fields are accepted but not documented; `required` ones have a default only because an unsaid field may
    replace them.
    """
    (top,), definitions = msgspec.json.schema_components([kind])
    schema = _flatten(top, definitions)
    schema.pop("description", None)
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in unsaid}
    if required:
        schema["required"] = [*schema.get("required", ()), *required]
    return schema


def _flatten(schema: JsonObject, definitions: JsonObject) -> JsonObject:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        bare = {k: v for k, v in definitions[name].items() if k != "description"}  # its docstring
        schema = bare | {k: v for k, v in schema.items() if k != "$ref"}
    if "anyOf" in schema:
        (kind,) = [one for one in schema["anyOf"] if one != {"type": "null"}]
        schema = kind | {k: v for k, v in schema.items() if k != "anyOf"}
    flat = {key: value for key, value in schema.items() if key not in _DROPPED}
    if "enum" in flat:
        flat["type"] = "string"
    if not flat.get("required"):
        flat.pop("required", None)
    if "properties" in flat:
        flat["properties"] = {name: _flatten(field, definitions) for name, field in flat["properties"].items()}
    if "items" in flat:
        flat["items"] = _flatten(flat["items"], definitions)
    return flat
