"""Turn a server's untrusted tool names, descriptions and schemas into ones that are safe for a model.

What must stay true: the same definition always gives the same name and text, whatever came before. No hidden character
stays in a text, and nothing exceeds its bound.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

from halocline.protocol.events.mcp import SEPARATOR
from halocline.protocol.values import JsonObject

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_500
LONGEST_NOTE = 400
"""Characters of one text inside a schema."""
LARGEST_SCHEMA = 12_000
"""Characters of a schema as JSON."""
DEEPEST = 12
MOST_VALUES = 400
"""Values allowed in one list or object of a schema."""
_SIGN = re.compile(r"[^A-Za-z0-9_-]")
_HASH = 6
_BREAKS = "\n\t"


def name_for(server: str, tool: str) -> str:
    """Return the model's name for a tool: unique, at most 64 allowed characters; a changed name ends in a hash."""
    plain = f"{server}{SEPARATOR}{tool}"
    name = _SIGN.sub("_", plain)
    if name == plain and len(name) <= LONGEST_NAME and SEPARATOR not in server and name[0].isalpha():
        return name
    mark = "_" + hashlib.sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_HASH]
    name = name if name[0].isalpha() else f"m{name}"
    return name[: LONGEST_NAME - len(mark)] + mark


def plain_text(text: str, most: int) -> str:
    """Remove invisible characters and cut to `most` characters."""
    seen = "".join(sign for sign in text[: 2 * most] if sign in _BREAKS or not _is_hidden(sign)).strip()
    return seen if len(seen) <= most and len(text) <= 2 * most else seen[: most - 1] + "…"


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn") or 0xFE00 <= ord(sign) <= 0xFE0F


def digest_tool(*definition: object) -> str:
    """Hash a tool's whole definition, as the server gave it."""
    return hashlib.sha256(repr(_sort_keys(definition)).encode(errors="surrogatepass")).hexdigest()[:32]


def _sort_keys(value: object) -> object:
    match value:
        case dict():
            return sorted((str(key), _sort_keys(each)) for key, each in value.items())
        case list() | tuple():
            return [_sort_keys(each) for each in value]
    return value


def clean_schema(schema: Any) -> JsonObject:
    """Return a schema that every provider accepts: an object without references, bounded in depth and size."""
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    for deepest, note in ((DEEPEST, LONGEST_NOTE), (6, 120), (3, 60), (2, 0)):
        made = _Cleaner(schema, deepest, note).clean()
        if len(msgspec.json.encode(made)) <= LARGEST_SCHEMA:
            return made
    names = [plain_text(name, 64) for name in _clean_properties(schema)][:100]
    return {"type": "object", "properties": {name: {} for name in names}}


def _clean_properties(schema: JsonObject) -> JsonObject:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


class _Cleaner:
    """Inlines references; a recursive or too deep one becomes a schema that allows anything."""

    def __init__(self, schema: JsonObject, deepest: int, note: int) -> None:
        self._schema = schema
        self._deepest = deepest
        self._note = note
        self._left = LARGEST_SCHEMA

    def clean(self) -> JsonObject:
        made = self._value(self._schema, 0, ())
        made = made if isinstance(made, dict) else {}
        for name in ("$defs", "definitions", "$schema", "$id"):
            made.pop(name, None)
        fields = made.get("properties")
        return {**made, "type": "object", "properties": fields if isinstance(fields, dict) else {}}

    def _value(self, value: Any, depth: int, inside: tuple[str, ...]) -> Any:
        self._left -= 1
        if depth > 2 * self._deepest or self._left < 0:
            return {} if isinstance(value, dict) else [] if isinstance(value, list) else value
        match value:
            case {"$ref": str(reference)}:
                return self._resolve_reference(value, reference, depth, inside)
            case dict():
                return dict(self._entries(value, depth, inside))
            case list():
                return [self._value(each, depth + 1, inside) for each in value[:MOST_VALUES]]
            case str():
                return plain_text(value, LONGEST_NOTE)
        return value

    def _entries(self, value: JsonObject, depth: int, inside: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for key, each in list(value.items())[:MOST_VALUES]:
            if key in ("$defs", "definitions") and isinstance(each, dict) and depth == 0:
                continue
            if key == "description" and isinstance(each, str):
                if self._note:
                    yield key, plain_text(each, self._note)
                continue
            yield str(key), self._value(each, depth + 1, inside)

    def _resolve_reference(self, value: JsonObject, reference: str, depth: int, inside: tuple[str, ...]) -> Any:
        own = {key: each for key, each in value.items() if key != "$ref"}
        target = None if reference in inside else self._target(reference)
        if not isinstance(target, dict):
            return dict(self._entries(own, depth, inside))
        return self._value({**target, **own}, depth + 1, (*inside, reference))

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        found: Any = self._schema
        for step in filter(None, reference[1:].split("/")):
            step = step.replace("~1", "/").replace("~0", "~")
            found = found.get(step) if isinstance(found, dict) else None
        return found
