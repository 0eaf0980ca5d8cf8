"""Read the schema for a structured answer: from a file, or from the JSON text itself."""

from pathlib import Path

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject
from halocline.task.structured_answer import schema_problem

HINT = 'Give a JSON Schema with an object at the root: {"type": "object", "properties": …}'


def read_schema(given: str) -> JsonObject:
    """Read the schema from a file, or from the text itself if it begins with a brace. Raises UsageError."""
    inline = given.lstrip().startswith("{")
    source = "The output schema" if inline else f"The output schema {given}"
    schema = _decode_schema(given if inline else _read_text(given), source)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise UsageError(f'{source} has no object at its root ("type": "object" is missing).', HINT)
    if problem := schema_problem(schema):
        raise UsageError(f"{source} is not valid. {problem}", HINT)
    return schema


def _read_text(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        hint = "Name a file with a JSON Schema, or give the schema itself, which begins with {."
        raise UsageError(f"Cannot read the output schema {path}: {why}.", hint) from error


def _decode_schema(text: str, source: str) -> object:
    """Decode JSON; the standard library's decoder names the line of an error."""
    import json

    try:
        json.loads(text)
        return msgspec.json.decode(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source} is not valid JSON: {error}.", HINT) from error
