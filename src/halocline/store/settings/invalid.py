"""Explains a setting that cannot be used: what is wrong, and which names and values there are."""

import enum
import re
import types
import typing
from collections.abc import Iterable
from typing import Any

import msgspec

from halocline.protocol.errors import SettingsError
from halocline.store.settings.settings import Settings

LIST = "List them: halo config list"
_UNKNOWN = re.compile(r"unknown field `(?P<name>[^`]*)`(?: - at `\$\.?(?P<at>[^`]*)`)?")
_WRONG = re.compile(r"(?P<what>.*?)(?: - at `(?P<key>key in )?\$\.?(?P<at>[^`]*)`)?", re.DOTALL)
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}


def explain_invalid(error: msgspec.ValidationError, given: dict[str, Any], source: str) -> SettingsError:
    """Return the error for a person. `source` is the file, the profile or the variable of the setting."""
    if unknown := _UNKNOWN.search(_read_words(error)):
        table = unknown["at"] or ""
        form = _find_type(Settings, table.split(".") if table else [])
        names = list(form.__struct_fields__) if hasattr(form, "__struct_fields__") else []
        name = f"{table}.{unknown['name']}" if table else unknown["name"]
        return SettingsError(f"Unknown setting {name!r} in {source}.", suggest_name(unknown["name"], names))
    at, problem, values = describe_invalid(error, given, Settings)
    if not at:
        return SettingsError(f"Invalid setting in {source}: {problem}.", LIST)
    return SettingsError(f"{at} in {source} {problem}.", values or LIST)


def describe_invalid(error: msgspec.ValidationError, given: dict[str, Any], form: type) -> tuple[str, str, str]:
    """Return the path of a wrong value in a table of this type, what is wrong, and the values that it takes.

    The path is empty if it is not known, and the values are, if there is no more to say.
    """
    wrong = _WRONG.fullmatch(_read_words(error))
    if not wrong or not wrong["at"]:
        return "", str(error), ""
    path, what = wrong["at"].split("."), wrong["what"]
    value, values = _find_value(given, path), _describe_values(_find_type(form, path))
    if value is None:
        return wrong["at"], f"is wrong: {what}", values
    return wrong["at"], f"cannot be {value!r}", values if values and "=" not in what else f"{what}."


def _read_words(error: msgspec.ValidationError) -> str:
    return str(error).replace("[...]", ".*")


def suggest_name(name: str, names: Iterable[str]) -> str:
    """Return the hint for an unknown name: the nearest one, and where all are listed."""
    from difflib import get_close_matches

    near = get_close_matches(name, [*names], n=1, cutoff=0.6)
    return f"Did you mean {near[0]}? {LIST}" if near else LIST


def _bare_type(form: Any) -> Any:
    """Return a type without annotations and without None."""
    while typing.get_origin(form) is typing.Annotated:
        form = typing.get_args(form)[0]
    if typing.get_origin(form) in (types.UnionType, typing.Union):
        return _bare_type(next(one for one in typing.get_args(form) if one is not type(None)))
    return form


def _find_type(form: Any, path: list[str]) -> Any:
    """Return the type of a field by its path, as in `mcp.enabled` or `rules[0]`; None if it has none."""
    for part in path:
        form = _bare_type(form)
        name = part.partition("[")[0]
        if hasattr(form, "__struct_fields__"):
            form = next((one.type for one in msgspec.structs.fields(form) if one.name == name), None)
        elif typing.get_origin(form) is dict:
            form = typing.get_args(form)[1]
        if "[" in part and typing.get_origin(_bare_type(form)) is tuple:
            form = typing.get_args(_bare_type(form))[0]
    return _bare_type(form)


def _find_value(given: Any, path: list[str]) -> Any:
    """Return a plain value that stands there; None for tables and lists, and what is not there."""
    for part in path:
        name, _, number = part.rstrip("]").partition("[")
        given = given.get(name) if isinstance(given, dict) else None
        if number.isdecimal():
            given = given[int(number)] if isinstance(given, list) else None
    return given if isinstance(given, str | int | float | bool) else None


def _describe_values(form: Any) -> str:
    if isinstance(form, type) and issubclass(form, enum.Enum):
        return f"Choose one of: {', '.join(str(one.value) for one in form)}."
    if typing.get_origin(form) is typing.Literal:
        return f"Choose one of: {', '.join(map(str, typing.get_args(form)))}."
    return f"It takes {_KINDS[form]}." if form in _KINDS else ""
