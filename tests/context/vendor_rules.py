"""What vendors refuse in a tool, as data: each rule is from an error that their API gave to somebody's MCP tool."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
GEMINIS = frozenset(
    {"type", "format", "description", "title", "nullable", "enum", "items", "minItems", "maxItems", "properties"}
    | {"required", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf", "minProperties"}
    | {"maxProperties", "default"}
)


@dataclass(frozen=True)
class Rules:
    """The rules of one vendor. Keywords are a schema's; `said` has words of refusals and where they are from."""

    name: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    description: int = 100_000
    key: re.Pattern[str] = re.compile(r".*", re.DOTALL)
    not_at_root: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    arrays_have_items: bool = False
    choices_have_types: bool = False
    text_enums_only: bool = False
    required_are_described: bool = False
    said: Mapping[str, str] = field(default_factory=dict)

    def faults(self, name: str, description: str, schema: Any) -> Iterator[str]:
        """Yield what the vendor would refuse."""
        if not self.name.fullmatch(name):
            yield f"name {name!r}"
        if len(description) > self.description:
            yield f"description of {len(description)} characters"
        if schema is None:
            return
        if schema.get("type") != "object":
            yield "the root is no object"
        yield from (f"{keyword} at the root" for keyword in self.not_at_root & schema.keys())
        yield from self._within(schema, "root")

    def _within(self, schema: Any, at: str) -> Iterator[str]:
        if not isinstance(schema, dict):
            yield f"{at} is no object: {schema!r}"
            return
        yield from (f"{keyword} in {at}" for keyword in self.never & schema.keys())
        if self.only is not None:
            yield from (f"{keyword} in {at}" for keyword in schema.keys() - self.only)
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        yield from (f"type {kind!r} in {at}" for kind in kinds if kind not in JSON_TYPES)
        if self.arrays_have_items and "array" in kinds and not isinstance(schema.get("items"), dict):
            yield f"array without items in {at}"
        if self.choices_have_types and "anyOf" in schema:
            if "type" in schema:
                yield f"type beside anyOf in {at}"
            yield from (f"choice without type in {at}" for one in schema["anyOf"] if "type" not in one)
        if self.text_enums_only and not all(isinstance(one, str) and one for one in schema.get("enum", ())):
            yield f"enum of {schema['enum']} in {at}"
        properties = schema.get("properties", {})
        if self.required_are_described:
            yield from (f"required {one} in {at}" for one in schema.get("required", ()) if one not in properties)
        for key, one in properties.items():
            if not self.key.fullmatch(key):
                yield f"key {key!r} in {at}"
            yield from self._within(one, f"{at}.{key}")
        for one in schema.get("anyOf", ()):
            yield from self._within(one, f"{at}.anyOf")
        if isinstance(others := schema.get("additionalProperties"), dict):
            yield from self._within(others, f"{at}.additionalProperties")
        if "items" in schema:
            yield from self._within(schema["items"], f"{at}.items")


CHOICES = frozenset({"anyOf", "oneOf", "allOf"})
REFERENCES = frozenset({"$ref", "$defs", "definitions"})
VENDORS = {
    "anthropic": Rules(
        key=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
        not_at_root=CHOICES,
        said={
            "input_schema does not support oneOf, allOf, or anyOf at the top level": "makenotion/notion-mcp-server#340",
            "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'": "anthropics/claude-code#31800",
            "JSON schema is invalid. It must match JSON Schema draft 2020-12": "anthropics/claude-code#586",
        },
    ),
    "openai": Rules(
        description=1024,
        not_at_root=CHOICES | {"enum", "not"},
        arrays_have_items=True,
        said={
            "Invalid schema for function: array schema missing items": "freee/freee-mcp#15",
            "string too long. Expected a string with maximum length 1024": "getsentry/sentry-mcp#106",
        },
    ),
    "gemini": Rules(
        name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}"),
        only=GEMINIS,
        arrays_have_items=True,
        text_enums_only=True,
        required_are_described=True,
        said={
            "Invalid function name. Must start with a letter or an underscore": "google-gemini/gemini-cli#2966",
            "parameters.properties[x].items: missing field": "cline/cline#7339",
        },
    ),
    "moonshot": Rules(
        not_at_root=CHOICES,
        never=REFERENCES | {"oneOf", "allOf"},
        arrays_have_items=True,
        choices_have_types=True,
        required_are_described=True,
        said={
            "when using anyOf, type should be defined in anyOf items": "MoonshotAI/kimi-code#2661",
        },
    ),
    "llama.cpp": Rules(
        never=REFERENCES | {"pattern", "patternProperties", "not", "if", "propertyNames", "$schema"},
        said={
            "Pattern must start with '^' and end with '$'": "containers/kubernetes-mcp-server#758",
        },
    ),
}
"""Azure and most hosts of open models take what OpenAI takes."""
