"""Every schema that a server can give becomes one that every vendor takes: the meta-schema and their rules judge."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator
from tests.context.vendor_rules import VENDORS
from tests.providers.streams import HELLO, MemoryBlobs, endpoint, request
from tests.tables import for_each

from halocline.context.tool_schemas import KEY, LARGEST_SCHEMA, normalize_schema, outline_schema
from halocline.ports.tool import ToolSpec
from halocline.protocol.events.mcp import McpTool
from halocline.providers.anthropic import request as anthropic
from halocline.providers.gemini import request as gemini
from halocline.providers.openai_chat import request as openai
from halocline.providers.openai_responses import request as responses
from halocline.tools.mcp_arguments import fit_arguments
from halocline.tools.mcp_tool import spec_of, summary

WORDS = st.sampled_from(["a", "b", "kind", "$filter", "x y", "", "ключ", "a/b", "x" * 80, "ok.key-1", "_", "\u202e"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
TYPES = st.sampled_from(
    [
        "object",
        "array",
        "string",
        "number",
        "integer",
        "boolean",
        "null",
        "any",
        "STRING",
        "int",
        "list",
        "date",
        3,
        None,
    ]
)
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/definitions/b", "#/properties/a", "#/nowhere", "https://x.example/s"]
)


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A schema as servers write them: of every draft, and wrong in the ways that they are."""
    some = st.lists(inner, max_size=3)
    named = st.dictionaries(WORDS, inner, max_size=4)
    count = st.integers(-2, 20) | st.floats() | st.booleans()
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, max_size=3),
            "properties": named | some,
            "required": st.lists(WORDS, max_size=3) | st.booleans() | st.none(),
            "items": inner | some | st.booleans(),
            "prefixItems": some,
            "anyOf": some,
            "oneOf": some,
            "allOf": some,
            "enum": st.lists(VALUES, max_size=3) | st.none(),
            "const": VALUES,
            "default": VALUES | named,
            "description": WORDS | st.integers(),
            "pattern": st.sampled_from([r"^\d+$", "(?<n>", "a{2"]),
            "format": WORDS | st.integers(),
            "minimum": count,
            "exclusiveMinimum": count,
            "maxLength": count,
            "minItems": count,
            "uniqueItems": st.booleans() | st.none(),
            "additionalProperties": inner | st.booleans(),
            "patternProperties": named,
            "nullable": st.booleans(),
            "not": inner,
            "if": inner,
            "$ref": REFERENCES,
            "$defs": named,
            "definitions": named,
            "$schema": WORDS,
            "dependencies": named,
        },
    )


SCHEMAS = st.recursive(VALUES | st.just({}), keywords, max_leaves=25)


def wire(spec: ToolSpec) -> dict[str, tuple[str, str, Any]]:
    """Name, description and schema as they go to each vendor."""
    asked = request(HELLO, tools=(spec,))
    blobs = MemoryBlobs()

    def body(parts: list[bytes]) -> Any:
        return json.loads(b"".join(parts))["tools"][0]

    at = endpoint("anthropic", "m")
    claude = body(anthropic.to_wire(asked, at, anthropic.encode_messages(at, blobs)))
    at = endpoint("openai", "m")
    chat = body(openai.to_wire(asked, at, openai.encode_messages(at, blobs)))["function"]
    at = endpoint("openai-responses", "m")
    newer = body(responses.to_wire(asked, at, responses.encode_messages("openai", blobs)))
    at = endpoint("gemini", "m")
    google = body(gemini.to_wire(asked, at, gemini.encode_messages(at, blobs)))["functionDeclarations"][0]
    open_ai = (chat["name"], chat["description"], chat["parameters"])
    return {
        "anthropic": (claude["name"], claude["description"], claude["input_schema"]),
        "openai": open_ai,
        "openai responses": (newer["name"], newer["description"], newer["parameters"]),
        "gemini": (google["name"], google["description"], google.get("parameters")),
        "moonshot": open_ai,
        "llama.cpp": open_ai,
    }


def check(schema: Any) -> None:
    made = normalize_schema(schema)
    Draft202012Validator.check_schema(made.schema)
    assert len(msgspec.json.encode(made.schema)) <= LARGEST_SCHEMA
    assert made == normalize_schema(schema), "the same schema gives another form"
    again = normalize_schema(made.schema)
    assert again.schema == made.schema, "the form has another form"
    assert not again.renamed
    tool = McpTool("s__t", "s", "t", "d" * 1_500, made.schema)
    for vendor, (name, description, sent) in wire(spec_of(tool)).items():
        assert list(VENDORS[vendor.split()[0]].faults(name, description, sent)) == [], vendor


@pytest.mark.slow
@given(SCHEMAS)
def test_every_vendor_takes_the_normal_form_of_any_schema(schema):
    check(schema)


CASES = {
    "choices of what is required": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "a choice of whole objects": {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "file"}, "path": {"type": "string"}}},
            {"type": "object", "properties": {"kind": {"const": "url"}, "url": {"type": "string"}}},
        ]
    },
    "all of several": {
        "allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {"type": "array"}}}]
    },
    "choices behind a reference": {"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"required": ["a"]}, {}]}}},
    "draft 4": {
        "type": "object",
        "required": None,
        "properties": {
            "n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            "p": {"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": False},
            "q": {"type": "string", "required": True},
            "r": {"type": "any"},
        },
    },
    "keys of an API": {"properties": {"$filter": {"type": "string"}, "user[name]": {}, "ключ": {}, "x" * 70: {}}},
    "arrays of anything": {
        "properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}, "c": {"items": {}}}
    },
    "enums of numbers and nothing": {
        "properties": {"a": {"type": "string", "enum": ["", "x"]}, "b": {"enum": [1, None]}}
    },
    "a type beside choices": {
        "properties": {"v": {"type": "string", "anyOf": [{"enum": ["auto"]}, {"minLength": 3}, {"type": "null"}]}}
    },
    "patterns": {"properties": {"d": {"type": "string", "pattern": r"\d{4}-(?!00)"}}},
    "a cycle": {
        "properties": {"head": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "string"}}}},
    },
    "a list of properties": {"type": "object", "properties": [{"name": "a"}]},
    "OpenAPI": {"type": "object", "properties": {"a": {"type": "string", "nullable": True, "example": 1, "xml": {}}}},
    "Gemini's own": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "ARRAY"}}},
    "true": True,
    "an enum at the root": {"type": "object", "enum": [{}], "not": {}},
    "required without a description": {"type": "object", "required": ["a", "b"], "properties": {"b": {}}},
    "a map": {"type": "object", "additionalProperties": {"type": "array"}, "patternProperties": {"^x": {}}},
}


@for_each("case", CASES)
def test_every_vendor_takes_what_servers_are_known_to_give(case):
    check(CASES[case])


REFUSED = {
    "anthropic": ("choices of what is required", "keys of an API"),
    "openai": ("choices of what is required", "arrays of anything"),
    "gemini": ("enums of numbers and nothing", "required without a description"),
    "moonshot": ("a type beside choices", "arrays of anything"),
    "llama.cpp": ("patterns", "a cycle"),
}


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_rules_refuse_what_the_vendors_refuse(vendor):
    for case in REFUSED[vendor]:
        assert list(VENDORS[vendor].faults("s__t", "", {"type": "object", **CASES[case]})), case


def test_a_plain_schema_stays_as_it_is():
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "An a."}}, "required": ["a"]}
    assert normalize_schema(schema).schema == schema


def test_choices_of_the_root_become_one_object_and_a_sentence():
    made = normalize_schema(CASES["choices of what is required"])
    assert made.schema["properties"].keys() == {"a", "b"}
    assert "required" not in made.schema
    assert made.said == "Use one of these sets of arguments: a; b."
    kinds = normalize_schema(CASES["a choice of whole objects"])
    assert kinds.schema["properties"]["kind"] == {"type": "string", "enum": ["file", "url"]}
    assert kinds.said == 'Use one of these sets of arguments: kind="file", path; kind="url", url.'


def test_old_ways_to_say_it_keep_their_meaning():
    made = normalize_schema(CASES["draft 4"]).schema
    assert made["properties"]["n"] == {"type": "integer", "exclusiveMinimum": 0}
    assert made["properties"]["p"]["items"] == {"anyOf": [{"type": "string"}, {"type": "number"}]}
    assert made["required"] == ["q"]


def test_references_are_written_out_and_cycles_cut():
    made = normalize_schema(CASES["a cycle"]).schema
    assert made["properties"]["head"]["properties"] == {"next": {}, "value": {"type": "string"}}


def test_a_schema_that_doubles_with_each_reference_stays_small():
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(30)}
    steps |= {f"e{n}": {"type": "array", "items": [{"$ref": f"#/$defs/e{n + 1}"}] * 4} for n in range(30)}
    check({"properties": {"x": {"$ref": "#/$defs/d0"}, "y": {"$ref": "#/$defs/e0"}}, "$defs": steps})


def test_a_giant_schema_keeps_the_names_of_its_fields():
    fields = {f"f{n}": {"type": "string", "description": "w " * 500} for n in range(90)}
    made = normalize_schema({"type": "object", "properties": fields}).schema
    assert made["properties"].keys() == fields.keys()
    check({"type": "object", "properties": fields})


@pytest.mark.slow
@given(st.dictionaries(WORDS | st.text(max_size=90), st.integers(), max_size=8))
def test_renamed_arguments_find_their_way_back(arguments):
    made = normalize_schema({"type": "object", "properties": {key: {"type": "integer"} for key in arguments}})
    assert all(KEY.fullmatch(key) for key in made.schema["properties"])
    backward = {old: new for new, old in made.renamed.items()}
    sent = {backward.get(key, key): value for key, value in arguments.items()}
    tool = McpTool("s__t", "s", "t", schema=made.schema, renamed=made.renamed)
    assert fit_arguments(sent, tool) == arguments
    inner = normalize_schema({"properties": {"list": {"items": {"properties": {key: {} for key in arguments}}}}})
    nested = McpTool("s__t", "s", "t", schema=inner.schema, renamed=inner.renamed)
    assert fit_arguments({"list": [sent]}, nested) == {"list": [arguments]}


def test_a_person_who_decides_sees_what_hides_in_the_names_of_arguments():
    made = normalize_schema({"properties": {"pa\u202eth": {}, "\x9b[2J": {}}})
    tool = McpTool("s__t", "s", "t\u200b", schema=made.schema, renamed=made.renamed)
    shown = summary(tool, dict.fromkeys(made.renamed, "v"))
    for text in (shown.title, *shown.detail.split("\n")):
        assert text.isprintable()
    for text in (shown.title, shown.detail):
        assert all(sign in text for sign in ("pa\\u202eth", "\\x9b[2J", "t\\u200b"))


FITTED = [
    ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
    ({"type": "array", "items": {"type": "integer"}}, ["1", 2.0], [1, 2]),
    ({"type": "object"}, '{"a": 1}', {"a": 1}),
    ({"type": "array"}, {"a": 1}, [{"a": 1}]),
    ({"type": "integer"}, "7", 7),
    ({"type": "integer"}, 7.0, 7),
    ({"type": "integer"}, 7.5, 7.5),
    ({"type": "number"}, "1.5", 1.5),
    ({"type": "boolean"}, "True", True),
    ({"type": "boolean"}, "yes", "yes"),
    ({"type": "string"}, "7", "7"),
    ({"type": ["string", "integer"]}, "7", "7"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
    ({}, "[1]", "[1]"),
]


@pytest.mark.parametrize(("schema", "given", "sent"), FITTED)
def test_arguments_are_fitted_to_the_schema_as_for_own_tools(schema, given, sent):
    tool = McpTool("s__t", "s", "t", schema={"type": "object", "properties": {"x": schema}})
    fitted = fit_arguments({"x": given}, tool)["x"]
    assert (fitted, type(fitted)) == (sent, type(sent))


@pytest.mark.slow
@given(SCHEMAS, st.dictionaries(WORDS, VALUES | st.just("7") | st.lists(VALUES, max_size=2), max_size=3))
def test_an_outline_fits_arguments_as_the_whole_schema_does(schema, arguments):
    whole = normalize_schema(schema).schema
    fitted = [fit_arguments(arguments, McpTool("s__t", "s", "t", schema=one)) for one in (whole, outline_schema(whole))]
    assert repr(fitted[0]) == repr(fitted[1])


@pytest.mark.slow
@given(SCHEMAS, st.dictionaries(WORDS, VALUES | st.lists(VALUES, max_size=2), max_size=3))
def test_arguments_go_to_a_server_whose_schema_is_of_any_form(schema, arguments):
    tool = McpTool("s__t", "s", "t", schema=schema if isinstance(schema, dict) else {})
    sent = fit_arguments(arguments, tool)
    assert sent.keys() <= arguments.keys()
    assert all(arguments[key] is None for key in arguments.keys() - sent.keys())


def test_what_a_choice_allows_is_not_changed():
    anything = {"anyOf": [{"type": "integer"}, {}]}
    tool = McpTool("s__t", "s", "t", schema={"properties": {"a": anything, "b": True, "c": False, "d": {"type": []}}})
    given = {"a": "7", "b": None, "c": None, "d": None}
    assert fit_arguments(given, tool) == given


def test_a_null_for_an_optional_argument_is_left_out():
    fields = {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "string"}}
    tool = McpTool("s__t", "s", "t", schema={"type": "object", "properties": fields, "required": ["c"]})
    assert fit_arguments({"a": None, "b": None, "c": None}, tool) == {"b": None, "c": None}
