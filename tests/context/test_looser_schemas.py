"""The normal form of a schema is never stricter than the server's: what that accepts, the form accepts, too.

A value comes first, then a schema that accepts it, in any of the ways to write one; so every example counts.
"""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator
from tests.tables import for_each

from halocline.context.tool_schemas import LONGEST_NOTE, MOST_VALUES, normalize_schema
from halocline.providers.gemini.schema import gemini_parameters

KEYS = st.sampled_from(["a", "b", "kind", "$filter", "x y", "", "ключ", "x" * 80])
TEXTS = st.sampled_from(["", " ", "\t", " a ", "a\n", "e\u200b", "\x1b[1m", "w" * (LONGEST_NOTE + 1), "plain", "é"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(KEYS, VALUES | TEXTS, min_size=1, max_size=4)
JUNK = st.sampled_from(
    [
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 9}, "b": {"enum": [7]}}},
        {"type": "array", "items": {"enum": ["only"]}},
        {"enum": ["x", " y"], "minLength": 1},
        {"const": "never"},
        {"type": "integer", "minimum": 3},
        False,
    ]
)
"""Schemas that other values are for."""


def type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


@st.composite
def accepting(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """A schema that accepts the value."""
    forms = ["type", "types", "enum", "const", "anything", "true", "sized"]
    if depth < 3:
        forms += ["anyOf", "oneOf", "allOf", "beside", "ref", "whole", "whole", "whole"]
    match draw(st.sampled_from(forms)):
        case "types":
            return {"type": [type_of(value), draw(st.sampled_from(["null", "string", "object"]))]}
        case "enum":
            return {"enum": draw(st.permutations([value, *draw(st.lists(SCALARS, max_size=3))]))}
        case "const":
            return {"const": value} | draw(st.sampled_from([{}, {"type": type_of(value)}]))
        case "anything":
            return draw(st.sampled_from([{}, {"description": "Any."}, {"default": " "}, {"minLength": 0}]))
        case "true":
            return True
        case "sized":
            sizes = {"string": "Length", "array": "Items", "object": "Properties"}
            if (kind := type_of(value)) in sizes:
                return {f"min{sizes[kind]}": len(value), f"max{sizes[kind]}": len(value)}
            return {"type": kind}
        case "anyOf":
            others = draw(st.lists(JUNK | st.just({}) | st.just(True), max_size=2))
            return {"anyOf": draw(st.permutations([draw(accepting(value, depth + 1)), *others]))}
        case "oneOf":
            return {"oneOf": [draw(accepting(value, depth + 1)), {"not": {}}, False]}
        case "allOf":
            return {"allOf": [draw(accepting(value, depth + 1)) for _ in range(2)]}
        case "beside":
            choice = {"anyOf": draw(st.permutations([draw(accepting(value, depth + 1)), draw(JUNK)]))}
            inner = draw(accepting(value, depth + 1))
            return (inner if isinstance(inner, dict) and "anyOf" not in inner else {}) | choice
        case "ref":
            return {"$ref": f"#/$defs/{draw(st.sampled_from(['one', 'all']))}"}
        case "whole" if isinstance(value, dict):
            return draw(accepting_object(value, depth))
        case "whole" if isinstance(value, list):
            return draw(accepting_list(value, depth))
    return {"type": type_of(value)}


@st.composite
def accepting_object(
    draw: st.DrawFn, value: dict[str, Any], depth: int, forms: str = "open closed pattern rest"
) -> Any:
    fields = {key: draw(accepting(one, depth + 1)) for key, one in value.items()}
    fields |= {key: one for key, one in draw(st.dictionaries(KEYS, JUNK, max_size=2)).items() if key not in fields}
    made = {"type": "object", "properties": fields}
    if value and draw(st.booleans()):
        made["required"] = draw(st.lists(st.sampled_from(sorted(value)), max_size=2))
    match draw(st.sampled_from(forms.split())):
        case "closed":
            made["additionalProperties"] = False
        case "pattern":
            made |= {"patternProperties": {"": {}}, "additionalProperties": False}
        case "rest" if value:
            made["additionalProperties"] = fields.pop(sorted(value)[0])
    return made


@st.composite
def accepting_list(draw: st.DrawFn, value: list[Any], depth: int) -> Any:
    first = draw(st.integers(0, len(value)))
    made: Any = {"type": "array"}
    if first:
        made["prefixItems"] = [draw(accepting(one, depth + 1)) for one in value[:first]]
    rest = value[first:]
    if draw(st.booleans()):
        made["items"] = {"anyOf": [draw(accepting(one, depth + 1)) for one in rest]} if rest else False
    return made


@st.composite
def schemas_and_values(draw: st.DrawFn) -> Any:
    """A schema of a tool and arguments that it accepts, some of them in choices of the root."""
    value = draw(OBJECTS)
    root = draw(accepting_object(value, 0))
    described = accepting_object(value, 0, "open closed")
    match draw(st.sampled_from(["plain", "anyOf", "allOf", "ref"])):
        case "anyOf":
            choices = [draw(described), draw(accepting_object(draw(OBJECTS), 0))]
            root = {"anyOf": [*draw(st.permutations(choices)), *draw(st.lists(st.just(True), max_size=1))]}
        case "allOf":
            root = {"allOf": [root, draw(described)]}
    return root | {"$defs": {"one": {}, "all": True}}, value


def renamed(value: Any, names: dict[str, str]) -> Any:
    """A value as the model writes it, who knows the new names."""
    match value:
        case dict():
            return {names.get(key, key): renamed(one, names) for key, one in value.items()}
        case list():
            return [renamed(one, names) for one in value]
    return value


def read_gemini(schema: Any) -> Any:
    """What Gemini's form of a schema means; items that had to have a type, as every array's, may be anything."""
    match schema:
        case dict():
            made = {key: read_gemini(one) for key, one in schema.items() if key not in ("nullable", "enum")}
            made |= {"enum": schema["enum"]} if "enum" in schema else {}
            made |= {"items": {}} if schema.get("items") == {"type": "string"} else {}
            return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made
        case list():
            return [read_gemini(one) for one in schema]
    return schema


def check(schema: Any, value: Any) -> None:
    assert Draft202012Validator(schema).is_valid(value), "the server does not accept it"
    made = normalize_schema(schema)
    said = renamed(value, {old: new for new, old in made.renamed.items()})
    for form in (made.schema, read_gemini(gemini_parameters(made.schema) or {})):
        assert [error.message for error in Draft202012Validator(form).iter_errors(said)] == [], form


@pytest.mark.slow
@given(schemas_and_values())
def test_what_a_server_accepts_the_normal_form_accepts(found):
    check(*found)


MANY = [f"v{n}" for n in range(MOST_VALUES + 1)]
LOOSE = [
    ({"enum": ["\t", ",", " "]}, "\t"),
    ({"enum": ["a\u200bb", "c"]}, "a\u200bb"),
    ({"enum": ["w" * 500]}, "w" * 500),
    ({"const": "x" * 500}, "x" * 500),
    ({"type": "string", "enum": MANY}, MANY[-1]),
    ({"anyOf": [{"const": one} for one in MANY]}, MANY[-1]),
    ({"anyOf": [{"type": "string"}, {}]}, 7),
    ({"anyOf": [{"type": "string"}, True]}, 7),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"description": "or anything"}]}, 7),
    ({"type": "string", "anyOf": [{"enum": ["auto"]}, {"minLength": 3}]}, "manual"),
    ({"type": "array", "prefixItems": [{"type": "string"}]}, ["a", 1]),
    ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1]),
    ({"type": "object", "properties": dict.fromkeys(MANY, True), "additionalProperties": False}, {MANY[-1]: 1}),
]


@for_each("schema, value", LOOSE)
def test_what_cannot_be_said_in_the_form_is_left_out_of_it(schema, value):
    check({"type": "object", "properties": {"x": schema}}, {"x": value})


@for_each("choices", [[{"required": ["a"], "type": "object"}, True], [{"required": ["a"]}, {}]])
def test_a_choice_of_the_root_that_requires_nothing_leaves_every_argument_free(choices):
    check({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": choices}, {})


@for_each("kinds", ["any", ["string", "any"], ["string", 3]])
def test_a_type_that_is_not_known_may_be_anything(kinds):
    assert normalize_schema({"properties": {"x": {"type": kinds}}}).schema["properties"]["x"] == {}


def test_values_stay_as_the_server_gave_them():
    schema = {"type": "string", "enum": [" a ", "\t", ","], "default": " a "}
    assert normalize_schema({"type": "object", "properties": {"x": schema}}).schema["properties"]["x"] == schema
