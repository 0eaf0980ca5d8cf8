"""One normal form of foreign tool schemas, which every vendor's API takes. Pure.

What must stay true: the result is valid JSON Schema 2020-12; its root is an object without choices; its keys match
`KEY`; arrays have items; it holds no reference, no `pattern` and nothing unknown, and it is bounded in depth and size.
It allows whatever the given schema allows: what the form cannot say is loosened, as a server checks its arguments. Only
an argument that one choice of the root describes, and others do not mention, is always as that one says.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

import msgspec

from halocline.protocol.terminal_text import plain_text
from halocline.protocol.values import JsonObject, Value

KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Names of properties. Anthropic refuses all others, and no other vendor refuses one of these."""
LONGEST_NOTE = 400
"""Characters of one text inside a schema."""
LARGEST_SCHEMA = 12_000
"""Characters of a schema as JSON."""
MOST_VALUES = 400
"""Values allowed in one list or object of a schema."""
_DEEPEST = 8
_PATTERN = 120
"""Longest pattern that is told, as words: llama.cpp crashes or refuses most of them as a keyword."""
_LARGEST_NUMBER = 2**53
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_MEANT = {
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("str", "text", "date", "datetime", "file"), "string"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("dict", "map", "record"), "object"),
    "bool": "boolean",
}
"""What other words for types mean; `any` and the rest say nothing."""
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_CHOICES = ("anyOf", "oneOf")
_NOT_OF_THE_ROOT = ("enum", "const", "nullable", "default", *_CHOICES)
_SHAPES = frozenset({"type", "properties", "items", "enum", "const", "$ref", "allOf", *_CHOICES})
_OF_THE_WHOLE = ("description", "default")
"""Keywords that stay beside choices; all others move into each."""


class NormalSchema(Value, frozen=True):
    """A schema in the normal form; `renamed` leads from new names of properties back to the server's.

    `said` is a sentence for the tool's description: the choices that the root had.
    """

    schema: JsonObject
    renamed: dict[str, str] = {}
    said: str = ""


def normalize_schema(schema: Any) -> NormalSchema:
    """Return the normal form of anything that a server gives as a tool's schema."""
    for deepest, note in ((_DEEPEST, LONGEST_NOTE), (5, 120), (3, 60), (2, 0)):
        normalizer = _Normalizer(schema, deepest, note)
        made = normalizer.normalize()
        if len(msgspec.json.encode(made.schema)) <= LARGEST_SCHEMA:
            return made
    renamed = dict(rename_key(name) for name in list(_object_field(schema, "properties"))[:100])
    changed = {new: old for new, old in renamed.items() if new != old}
    return NormalSchema({"type": "object", "properties": {name: {} for name in renamed}}, changed)


def outline_schema(schema: Any) -> Any:
    """Return what arguments can be fitted to: the types, names and requirements of a normal form, without its words."""
    match schema:
        case {"anyOf": list(choices)}:
            return {"anyOf": [outline_schema(one) for one in choices]}
        case dict():
            made = {key: schema[key] for key in ("type", "required") if key in schema}
            made |= {"items": outline_schema(schema["items"])} if "items" in schema else {}
            fields = {name: outline_schema(one) for name, one in _object_field(schema, "properties").items()}
            return made | ({"properties": fields} if fields else {})
    return schema


def rename_key(key: str) -> tuple[str, str]:
    """Return a name that every vendor takes, and the key itself. A changed name ends in a hash."""
    if KEY.fullmatch(key):
        return key, key
    mark = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:6]
    word = re.sub("[^A-Za-z0-9_.-]", "_", key).strip("_")[:57]
    return f"{word or 'key'}_{mark}", key


class _Normalizer:
    """Rebuilds a schema from what it understands. A recursive or too deep part becomes one that allows anything."""

    def __init__(self, schema: Any, deepest: int, note: int) -> None:
        self._schema = schema
        self._deepest = deepest
        self._note = note
        self._left = LARGEST_SCHEMA
        self._renamed: dict[str, str] = {}

    def normalize(self) -> NormalSchema:
        whole, inside = self._merge(self._schema, ())
        sets: list[str] = []
        properties, required = self._collect(whole, inside, sets, 0)
        root = {key: value for key, value in whole.items() if key not in _NOT_OF_THE_ROOT}
        root |= {"type": "object", "required": required}
        root["properties"] = {name: _join_alternatives(found) for name, found in properties.items()}
        made = {"type": "object", "properties": {}} | self._plain(root, 0, inside)
        said = f"Use one of these sets of arguments: {'; '.join(sets)}." if len(set(sets)) > 1 else ""
        return NormalSchema(made, self._renamed, plain_text(said, LONGEST_NOTE))

    def _collect(
        self, whole: JsonObject, inside: tuple[str, ...], sets: list[str], depth: int
    ) -> tuple[dict[str, list[Any]], list[str]]:
        """Return all properties of the root and its choices, and those that every choice requires."""
        properties = {name: [one] for name, one in _object_field(whole, "properties").items()}
        required = list(_required(whole))
        for keyword in _CHOICES if depth < self._deepest else ():
            branches = [self._merge(one, inside) for one in _list_choices(whole, keyword)]
            found = [self._collect(branch, within, [], depth + 1) for branch, within in branches]
            for more, _ in found:
                for name, schemas in more.items():
                    properties.setdefault(name, []).extend(schemas)
            shared = set.intersection(*(set(needed) for _, needed in found)) if found else set()
            required += [name for _, needed in found[:1] for name in needed if name in shared]
            named = [self._describe_set(needed, more) for more, needed in found]
            if all(named):
                sets += named
        return properties, required

    def _describe_set(self, required: list[str], properties: dict[str, list[Any]]) -> str:
        """Name the arguments that one choice requires, or has, with the one value that an argument may have."""
        fixed = {name: _list_values(found[0]) for name, found in properties.items()}
        words = [
            f"{rename_key(name)[0]}={msgspec.json.encode(fixed[name][0]).decode()}"
            if len(fixed.get(name, ())) == 1
            else rename_key(name)[0]
            for name in dict.fromkeys(required or properties)
        ]
        return ", ".join(words[:20])

    def _merge(self, value: Any, inside: tuple[str, ...]) -> tuple[JsonObject, tuple[str, ...]]:
        """Return a schema with its `$ref` and `allOf` merged in, and the references that led there."""
        self._left -= 1
        if not isinstance(value, dict) or self._left < 0:
            return {}, inside
        parts = _list_field(value, "allOf")
        reference = value.get("$ref")
        if isinstance(reference, str) and reference not in inside and len(inside) < 2 * self._deepest:
            inside = (*inside, reference)
            parts = [self._target(reference), *parts]
        whole: JsonObject = {}
        for part in parts[:MOST_VALUES]:
            merged, inside = self._merge(part, inside)
            whole = _join_schemas(whole, merged)
        return _join_schemas(whole, {key: one for key, one in value.items() if key not in ("$ref", "allOf")}), inside

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        found: Any = self._schema
        for step in filter(None, reference[1:].split("/")):
            step = step.replace("~1", "/").replace("~0", "~")
            found = found.get(step) if isinstance(found, dict) else None
        return found

    def _node(self, value: Any, depth: int, inside: tuple[str, ...]) -> JsonObject:
        if depth > self._deepest:
            return {}
        whole, inside = self._merge(value, inside)
        choices = [one for name in _CHOICES for one in _list_choices(whole, name)]
        rest = {key: one for key, one in whole.items() if key not in _CHOICES}
        if len(choices) > MOST_VALUES or all(map(_SHAPES.isdisjoint, choices)):
            return self._plain(rest, depth, inside)
        about = self._plain({key: one for key, one in rest.items() if key in _OF_THE_WHOLE}, depth, inside)
        inner = {key: one for key, one in rest.items() if key not in _OF_THE_WHOLE}
        made: list[JsonObject] = []
        for one in choices:
            branch = self._node(_join_schemas(inner, one), depth + 1, inside)
            made += [] if branch in made else [branch]
        if len(made) == 1:
            return made[0] | about
        if any("type" not in one and "anyOf" not in one for one in made):
            return about  # one of them allows anything, and so does the whole
        flat = [one for branch in made for one in branch.get("anyOf", [branch])]
        return {"anyOf": flat, **about}

    def _plain(self, whole: JsonObject, depth: int, inside: tuple[str, ...]) -> JsonObject:
        """Convert a schema without choices."""
        kinds, values = _kinds_of(whole), _list_values(whole)
        if values and not set(kinds) & {"array", "object"}:
            of_values = tuple(dict.fromkeys(_kind_of_value(value) for value in values))
            kinds = kinds if all(_is_among(kind, kinds) for kind in of_values) else of_values
        else:
            values = []
        made: JsonObject = {"type": kinds[0] if len(kinds) == 1 else list(kinds)} if kinds else {}
        made |= {"enum": values} if values else {}
        if words := self._describe(whole):
            made["description"] = words
        if "default" in whole and _is_safe(whole["default"]):
            made["default"] = whole["default"]
        if isinstance(form := whole.get("format"), str) and KEY.fullmatch(form):
            made["format"] = form
        made |= dict(_list_bounds(whole))
        if "object" in kinds:
            made |= self._object_keywords(whole, depth, inside)
        if "array" in kinds:
            made["items"] = self._items(whole, depth, inside)
        return made

    def _describe(self, whole: JsonObject) -> str:
        """Return the description, with the keywords that are told in words."""
        given = whole.get("description")
        words = [given] if isinstance(given, str) else []
        pattern = whole.get("pattern")
        words += [f"(pattern: {pattern})"] if isinstance(pattern, str) and len(pattern) <= _PATTERN else []
        return plain_text(" ".join(words), self._note) if self._note else ""

    def _object_keywords(self, whole: JsonObject, depth: int, inside: tuple[str, ...]) -> JsonObject:
        made: JsonObject = {}
        names: dict[str, str] = {}
        given = _object_field(whole, "properties")
        for key, one in list(given.items())[:MOST_VALUES]:
            names[key], _ = rename_key(key)
            made[names[key]] = self._node(one, depth + 1, inside)
        self._renamed |= {new: old for old, new in names.items() if new != old}
        fields: JsonObject = {"properties": made} if made else {}
        if required := [names[name] for name in dict.fromkeys(_required(whole)) if name in names]:
            fields["required"] = required
        if "patternProperties" not in whole and len(given) <= MOST_VALUES:
            others = whole.get("additionalProperties")
            if isinstance(others, bool):
                fields["additionalProperties"] = others
            elif isinstance(others, dict) and (inner := self._node(others, depth + 1, inside)):
                fields["additionalProperties"] = inner
        return fields

    def _items(self, whole: JsonObject, depth: int, inside: tuple[str, ...]) -> JsonObject:
        """Return the schema of an array's items; items of a fixed order become a choice, with those that may follow."""
        items, others = whole.get("items"), whole.get("additionalItems")
        ordered = items if isinstance(items, list) else _list_field(whole, "prefixItems")
        if not ordered:
            return self._node(items, depth + 1, inside)
        most, others = whole.get("maxItems"), others if ordered is items else items
        ends = others is False or (_is_number(most) and most <= len(ordered))
        return self._node({"anyOf": ordered if ends else [*ordered, others]}, depth + 1, inside)


def _kinds_of(whole: JsonObject) -> tuple[str, ...]:
    """Return the types of a schema, from its `type` or from its other keywords."""
    given = whole.get("type")
    words = [str(word).lower() for word in (given if isinstance(given, list) else [given])]
    kinds = [_MEANT.get(word, word) for word in words]
    kinds = kinds if set(kinds) <= set(_TYPES) else []  # what is not known may be anything
    if not kinds and not isinstance(given, str):
        kinds += ["object"] if isinstance(whole.get("properties"), dict) else []
        kinds += ["array"] if not kinds and isinstance(whole.get("items"), dict | list) else []
    kinds += ["null"] if kinds and whole.get("nullable") is True else []
    return tuple(dict.fromkeys(kinds))


def _list_values(whole: Any) -> list[Any]:
    """List the values of `enum` or `const`, each once; none if there are too many, or one that cannot stay as it is."""
    found = [whole["const"]] if isinstance(whole, dict) and "const" in whole else _list_field(whole, "enum")
    if len(found) > MOST_VALUES or not all(map(_is_safe, found)):
        return []
    return list({repr(value): value for value in found}.values())


def _list_bounds(whole: JsonObject) -> Iterator[tuple[str, Any]]:
    for name in _COUNTS:
        if _is_number(count := whole.get(name)) and count >= 0 and count == int(count):
            yield name, int(count)
    for name, exclusive in _BOUNDS.items():
        if _is_number(bound := whole.get(name)):
            yield exclusive if whole.get(exclusive) is True else name, bound
        if _is_number(bound := whole.get(exclusive)):
            yield exclusive, bound
    if isinstance(whole.get("uniqueItems"), bool):
        yield "uniqueItems", whole["uniqueItems"]


def _required(whole: JsonObject) -> Iterator[str]:
    """Yield the required properties, also those that say it themselves, as before draft 4."""
    yield from (name for name in _list_field(whole, "required") if isinstance(name, str))
    for name, one in _object_field(whole, "properties").items():
        if isinstance(one, dict) and one.get("required") is True:
            yield name


def _join_alternatives(found: list[Any]) -> Any:
    """Return one schema for a property that several choices of the root describe."""
    values = [_list_values(one) for one in found]
    if len(found) > 1 and all(values):
        about = {key: one for key, one in found[0].items() if key in _OF_THE_WHOLE}
        return about | {"enum": [value for some in values for value in some]}
    return found[0] if len(found) == 1 else {"anyOf": found}


def _join_schemas(one: JsonObject, other: JsonObject) -> JsonObject:
    """Merge two schemas; the second's keys win, but properties and required fields add up."""
    whole = one | other
    if properties := _object_field(one, "properties") | _object_field(other, "properties"):
        whole["properties"] = properties
    if required := [name for part in (one, other) for name in _list_field(part, "required")]:
        whole["required"] = required
    return whole


def _kind_of_value(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
    return "string"


def _is_among(kind: str, kinds: Iterable[str]) -> bool:
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _is_safe(value: Any) -> bool:
    """True for a value that no vendor refuses, and in which nothing is hidden: others are left out, never changed."""
    if isinstance(value, str):
        return len(value) <= LONGEST_NOTE and plain_text(f".{value}.", LONGEST_NOTE + 2) == f".{value}."
    return value is None or isinstance(value, bool) or _is_number(value)


def _is_number(value: Any) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and abs(value) <= _LARGEST_NUMBER


def _object_field(schema: Any, name: str) -> JsonObject:
    return inner if isinstance(schema, dict) and isinstance(inner := schema.get(name), dict) else {}


def _list_choices(whole: JsonObject, keyword: str) -> list[JsonObject]:
    """List the choices of a keyword; one that is no schema allows anything, and `false` is none."""
    return [one if isinstance(one, dict) else {} for one in _list_field(whole, keyword) if one is not False]


def _list_field(schema: Any, name: str) -> list[Any]:
    return inner if isinstance(schema, dict) and isinstance(inner := schema.get(name), list) else []
