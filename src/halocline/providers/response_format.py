"""Convert an output schema to the subset of JSON Schema that all vendors accept. Pure.

Keywords left out here (bounds, patterns, formats) still apply: the task checks every answer against the whole schema.
"""

import re
from collections.abc import Iterable

from halocline.ports.model import Request
from halocline.protocol.values import JsonObject
from halocline.providers.endpoint import Endpoint

_KEPT = frozenset({"type", "description", "title", "enum", "properties", "required", "items", "anyOf"})
_PLACED = frozenset({"$defs", "definitions", "const", "additionalProperties"})
_ABOUT = frozenset({"$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_TEXTS = frozenset({"minLength", "maxLength", "pattern", "format"})
_COUNTS = frozenset({"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"})
_UNDERSTOOD = _KEPT | _PLACED | _ABOUT | _NUMBERS | _TEXTS | _COUNTS


_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class _NotForVendors(Exception):
    """The schema uses keywords that not every vendor understands."""


def native_schema(request: Request, endpoint: Endpoint) -> JsonObject | None:
    """Return the schema to send to a vendor; None when the vendor does not support it.

    An answer that matches it matches the user's schema, except for the keywords left out.
    """
    schema, models = request.output_schema, endpoint.vendor.answer_schemas
    if schema is None or not (models and endpoint.at_home and re.match(models, endpoint.wire_model(request.model))):
        return None
    try:
        return _close_schema(schema, schema, ())
    except _NotForVendors:
        return None


def for_openai(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build the format as both of OpenAI's APIs name it; empty when none is sent."""
    schema = native_schema(request, endpoint)
    return {} if schema is None else {"name": "answer", "schema": schema, "strict": is_strict(schema)}


def is_strict(schema: JsonObject) -> bool:
    """True if every property is required, at any depth: only then does OpenAI enforce the schema."""
    properties = schema.get("properties", {})
    inner = (*properties.values(), *schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ()))
    return set(properties) <= set(schema.get("required", ())) and all(map(is_strict, inner))


def _close_schema(node: object, root: JsonObject, within: tuple[str, ...]) -> JsonObject:
    """Inline the node's references, and forbid properties that it does not name."""
    if not isinstance(node, dict):
        raise _NotForVendors
    if isinstance(name := node.get("$ref"), str):
        return _close_schema(_resolve_reference(name, root, within), root, (*within, name))
    if node.keys() - _UNDERSTOOD or not node.keys() & {"type", "enum", "const", "anyOf"}:
        raise _NotForVendors
    closed: JsonObject = {key: value for key, value in node.items() if key in _KEPT}
    if "const" in node:
        closed["enum"] = [node["const"]]
    if "enum" in closed and "type" not in closed:
        closed["type"] = _type_of(closed["enum"])
    if "anyOf" in node:
        closed["anyOf"] = [_close_schema(one, root, within) for one in node["anyOf"]]
    kinds = node.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if "array" in kinds:
        closed["items"] = _close_schema(node.get("items"), root, within)
    return closed | _close_object(node, kinds, root, within)


def _close_object(node: JsonObject, kinds: Iterable[str], root: JsonObject, within: tuple[str, ...]) -> JsonObject:
    if "object" not in kinds:
        return {}
    properties = node.get("properties")
    if not properties or node.get("additionalProperties") or not set(node.get("required", ())) <= set(properties):
        raise _NotForVendors
    closed = {name: _close_schema(inner, root, within) for name, inner in properties.items()}
    return {"properties": closed, "required": list(node.get("required", ())), "additionalProperties": False}


def _type_of(values: Iterable[object]) -> str:
    """Return the common type of the values, which OpenAI requires."""
    kinds = {_TYPES.get(type(value), "") for value in values}
    if len(kinds) != 1 or "" in kinds:
        raise _NotForVendors
    return kinds.pop()


def _resolve_reference(name: str, root: JsonObject, within: tuple[str, ...]) -> object:
    """Resolve a reference within the schema; a recursive one is not supported."""
    if name in within or not name.startswith("#/"):
        raise _NotForVendors
    node: object = root
    for step in name[2:].split("/"):
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
