"""Convert a tool's JSON schema to the subset that Gemini's function declarations accept. Pure.

Constraints outside the subset are dropped or loosened: the tool checks its arguments itself. References are inlined; a
recursive one allows anything.
"""

from collections.abc import Mapping
from typing import Any

from halocline.protocol.values import JsonObject

_SIZES = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum")
_KEPT = frozenset({"type", "format", "description", "nullable", "pattern", *_SIZES})
_FORMATS = ("date-time", "float", "double", "int32", "int64")
_SHAPES = frozenset({"type", "properties", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"})


def gemini_parameters(schema: Mapping[str, Any]) -> JsonObject | None:
    """Return a function declaration's parameters; None when there are none, as Gemini rejects an empty object."""
    definitions = {
        f"#/{place}/{name}": one
        for place in ("$defs", "definitions")
        for name, one in _object_field(schema, place).items()
    }
    accepted = _Subset(definitions).of(schema, frozenset())
    return accepted if accepted.get("properties") or accepted.get("anyOf") else None


class _Subset:
    """Converts schemas that may refer to `definitions`. `inside` are the references that led to a schema."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def of(self, schema: Any, inside: frozenset[str]) -> JsonObject:
        if not isinstance(schema, Mapping):
            return {}
        followed = set(inside)
        whole = self._merge_references(schema, followed)
        inside = frozenset(followed)
        choices = _list_choices(whole)
        real = [one for one in choices if one.get("type") != "null"]
        match real:
            case []:
                accepted = self._plain(whole, inside)
            case [one]:
                accepted = self.of(one, inside) | _keep_description(whole)
            case _:
                accepted = {"anyOf": [self.of(one, inside) for one in real]} | _keep_description(whole)
        return accepted | ({"nullable": True} if len(real) < len(choices) else {})

    def _merge_references(self, schema: Mapping[str, Any], followed: set[str]) -> JsonObject:
        """Merge the schema with its `$ref` and `allOf`; its own keys win."""
        parts = _list_field(schema, "allOf")
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in followed:
            followed.add(reference)
            parts = [self._definitions.get(reference), *parts]
        whole: JsonObject = {}
        for part in parts:
            whole = _join_schemas(whole, self._merge_references(part, followed)) if isinstance(part, Mapping) else whole
        return _join_schemas(whole, {name: value for name, value in schema.items() if name not in ("$ref", "allOf")})

    def _plain(self, schema: JsonObject, inside: frozenset[str]) -> JsonObject:
        """Convert a schema of one type."""
        accepted = {name: value for name, value in schema.items() if name in _KEPT}
        if not isinstance(accepted.get("type"), str):
            accepted.pop("type", None)
        if accepted.get("format") not in _FORMATS:
            accepted.pop("format", None)
        values = [schema["const"]] if "const" in schema else _list_field(schema, "enum")
        if values and all(isinstance(value, str) for value in values):
            # Gemini rejects enums of anything but strings,
            accepted |= {"type": "string", "enum": values}
        if properties := {name: self.of(one, inside) for name, one in _object_field(schema, "properties").items()}:
            required = [name for name in properties if name in _list_field(schema, "required")]
            accepted |= {"type": "object", "properties": properties} | ({"required": required} if required else {})
        if accepted.get("type") == "array":
            # and arrays without items.
            accepted["items"] = self.of(schema.get("items"), inside) or {"type": "string"}
        return accepted


def _list_choices(schema: JsonObject) -> list[JsonObject]:
    """List a schema's alternatives, each complete; `anyOf` entries that only combine required fields do not count."""
    if isinstance(kinds := schema.get("type"), list):
        return [{**schema, "type": kind} for kind in kinds if isinstance(kind, str)]
    options = [one for one in _list_field(schema, "anyOf") + _list_field(schema, "oneOf") if isinstance(one, dict)]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "oneOf", "description")}
    return [_join_schemas(rest, one) for one in options if not _SHAPES.isdisjoint(one)]


def _join_schemas(one: JsonObject, other: JsonObject) -> JsonObject:
    """Merge two schemas; the second's keys win, but properties and required fields add up."""
    whole = one | other
    if properties := _object_field(one, "properties") | _object_field(other, "properties"):
        whole["properties"] = properties
    if required := _list_field(one, "required") + _list_field(other, "required"):
        whole["required"] = required
    return whole


def _keep_description(schema: JsonObject) -> JsonObject:
    return {"description": schema["description"]} if "description" in schema else {}


def _object_field(schema: Mapping[str, Any], name: str) -> JsonObject:
    return inner if isinstance(inner := schema.get(name), dict) else {}


def _list_field(schema: Mapping[str, Any], name: str) -> list[Any]:
    return inner if isinstance(inner := schema.get(name), list) else []
