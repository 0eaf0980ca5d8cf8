from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.providers.gemini.schema import gemini_parameters
from halocline.tools.toolset import every_tool

TEXT = {"type": "string"}
ACCEPTED = {
    *("type", "format", "description", "nullable", "enum", "properties", "required", "items", "anyOf", "pattern"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum"),
}


def field(schema: Any, **root: Any) -> Any:
    """What becomes of one field's schema."""
    accepted = gemini_parameters({"type": "object", "properties": {"it": schema}, **root})
    assert accepted is not None
    return accepted["properties"]["it"]


@for_each(
    "schema, accepted",
    [
        (TEXT, TEXT),
        ({"type": "string", "default": "a", "title": "A", "$schema": "x", "examples": ["a"]}, TEXT),
        ({"type": "object", "additionalProperties": False, "patternProperties": {}}, {"type": "object"}),
        ({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}, {"type": "integer", "minimum": 1}),
        ({"type": "string", "format": "uri"}, TEXT),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}),
        ({"type": "array"}, {"type": "array", "items": TEXT}),
        ({"type": "array", "items": {"type": "number", "default": 1}}, {"type": "array", "items": {"type": "number"}}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"type": ["array", "null"], "items": {"type": "integer"}},
            {"type": "array", "items": {"type": "integer"}, "nullable": True},
        ),
        ({"type": ["string", "integer"]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        (
            {"anyOf": [{"type": "string", "description": "in"}, {"type": "null"}], "description": "out"},
            {"type": "string", "description": "out", "nullable": True},
        ),
        ({"oneOf": [TEXT, {"type": "integer"}], "default": 1}, {"anyOf": [TEXT, {"type": "integer"}]}),
        (
            {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"type": "object", "properties": {"a": TEXT}},
        ),
        (
            {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": TEXT}, "required": ["b"]}]},
            {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
        ),
        ({"properties": {"a": TEXT}, "required": ["b"]}, {"type": "object", "properties": {"a": TEXT}}),
        (True, {}),
    ],
)
def test_a_schema_is_said_in_the_words_that_gemini_accepts(schema: Any, accepted: Any) -> None:
    assert field(schema) == accepted


def test_fields_may_be_named_like_words_that_are_left_out() -> None:
    named = {"default": TEXT, "examples": TEXT, "additionalProperties": TEXT, "title": TEXT}
    assert gemini_parameters({"properties": named, "required": ["title"]}) == {
        "type": "object",
        "properties": named,
        "required": ["title"],
    }


@pytest.mark.parametrize("place", ["$defs", "definitions"])
def test_references_are_replaced_by_what_they_refer_to(place: str) -> None:
    referring = {"$ref": f"#/{place}/Size", "description": "How big"}
    definition = {"type": "integer", "description": "A size", "title": "Size"}
    assert field(referring, **{place: {"Size": definition}}) == {"type": "integer", "description": "How big"}


def test_a_schema_within_itself_ends() -> None:
    node = {"properties": {name: {"$ref": "#/$defs/Node"} for name in "abcdefgh"}}
    accepted = field({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    assert accepted["properties"]["a"] == {}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_has_no_parameters(schema: Any) -> None:
    assert gemini_parameters(schema) is None


def words(accepted: Any) -> Iterator[str]:
    """Every key that has a meaning to Gemini, on all levels."""
    yield from accepted
    inner = [*accepted.get("properties", {}).values(), *accepted.get("anyOf", ())]
    for one in [*inner, accepted["items"]] if "items" in accepted else inner:
        yield from words(one)


@for_each("tool", every_tool())
def test_our_own_tools_lose_nothing(tool: Any) -> None:
    wanted = tool.spec.schema if tool.spec.schema["properties"] else None  # an object of nothing is not accepted
    assert gemini_parameters(tool.spec.schema) == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["null", "array", "object", "#/$defs/a", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const", "required"]
            )
            | st.sampled_from(["default", "format", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_tool_brings_as_its_schema_something_acceptable_is_sent(schema: Any) -> None:
    accepted = gemini_parameters({"properties": {"it": schema}, "$defs": {"a": schema}})
    assert accepted is not None
    assert ACCEPTED.issuperset(words(accepted))
    msgspec.json.encode(accepted)
