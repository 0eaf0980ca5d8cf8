"""Values of a program's own types: their JSON schema, and converting to and from them.

Types are those that msgspec knows (dataclasses, TypedDict, Struct, …), paths, and pydantic's if pydantic is there.
"""

from pathlib import Path, PurePath
from typing import Any

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject


def build_schema(kind: Any) -> JsonObject:
    """Return the JSON Schema of a type. Raises UsageError if it has none."""
    if _is_model(kind):
        return _lift_definitions(_read_model_schema(kind))
    try:
        (top,), definitions = msgspec.json.schema_components([kind], schema_hook=_schema_of_other)
    except (TypeError, NotImplementedError) as error:
        raise UsageError(
            f"{describe_type(kind)} has no JSON Schema: {error}",
            "Use a dataclass, a TypedDict, a pydantic model or a simple type.",
        ) from error
    if set(top) == {"$ref"}:
        top = definitions.pop(top["$ref"].rpartition("/")[2]) if not _is_referred(top["$ref"], definitions) else top
    return _lift_definitions({**top, "$defs": definitions} if definitions else dict(top))


def _lift_definitions(schema: JsonObject) -> JsonObject:
    """Move the definitions of parts to the root, where references look for them."""
    found: JsonObject = {}

    def lift(part: Any) -> Any:
        match part:
            case dict():
                for name, definition in part.get("$defs", {}).items():
                    found[name] = lift(definition)
                return {key: lift(one) for key, one in part.items() if key != "$defs"}
            case list():
                return [lift(one) for one in part]
        return part

    lifted: JsonObject = lift(schema)
    return {**lifted, "$defs": found} if found else lifted


def convert_value(value: Any, kind: Any, folder: Path = Path()) -> Any:
    """Return a JSON value as a value of a type; paths are below the folder. Raises ValueError."""
    if _is_model(kind):
        return kind.model_validate(value)
    return msgspec.convert(value, kind, dec_hook=lambda wanted, given: _convert_other(wanted, given, folder))


def to_json(value: Any) -> Any:
    """Return a value as JSON has it. Raises TypeError if it has no such form."""
    return msgspec.to_builtins(value, enc_hook=_encode_other)


def describe_type(kind: Any) -> str:
    return getattr(kind, "__name__", None) or str(kind)


def describe_error(error: BaseException | None) -> str:
    """Return an error's type and text, also of one whose text cannot be made."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _is_referred(reference: str, definitions: JsonObject) -> bool:
    """True if a definition refers to itself, or another does."""
    return f'"{reference}"'.encode() in msgspec.json.encode(definitions)


def _is_model(kind: Any) -> bool:
    """True for a class of pydantic."""
    return isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def _read_model_schema(kind: Any) -> JsonObject:
    schema: JsonObject = kind.model_json_schema()
    return schema


def _schema_of_other(kind: type) -> JsonObject:
    if issubclass(kind, PurePath):
        return {"type": "string"}
    if _is_model(kind):
        return _read_model_schema(kind)
    raise NotImplementedError


def _convert_other(kind: Any, value: Any, folder: Path) -> Any:
    if issubclass(kind, PurePath):
        if not isinstance(value, str):
            raise TypeError("Expected `str`")
        return kind(folder, Path(value).expanduser())
    if _is_model(kind):
        return kind.model_validate(value)
    raise NotImplementedError


def _encode_other(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"{describe_type(type(value))} has no JSON form")
