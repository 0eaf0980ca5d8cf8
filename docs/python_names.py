"""Writes the page of the public names of `import halocline` and `halocline.testing`, from their own docstrings."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import msgspec

import halocline
import halocline.testing

_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?=: | \()|^(\w+)$")
HEAD = """\
These names are public; all other modules may change at any time. A test holds the list, so a change of it is meant.
A name or an argument that goes, or means something else, is named in the changelog, and warns (`DeprecationWarning`,
which says what to use) in at least one minor version before it goes. `name=` is an argument with a default.
[The guide](../guide/sdk.md) shows how all this is used."""


def list_python_names() -> str:
    """The page of the public names."""
    parts = [part for face in (halocline, halocline.testing) for part in _face(face)]
    return "\n\n".join(parts) + "\n"


def _face(face: ModuleType) -> Iterator[str]:
    yield f"## {face.__name__}"
    for name in sorted(face._MODULES, key=str.lower):
        yield from _describe(name, getattr(face, name))


def _describe(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"### `{name}`\n\nThe module `{value.__name__}`. {_first_line(value)}"
        return
    yield f"### `{name}{_arguments(value)}`"
    if supertype := getattr(value, "__supertype__", None):
        yield f"A `{supertype.__name__}` that the tool's type marks."
        return
    yield "\n".join(_render(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        yield from filter(None, ["\n".join(_members(value))])


def _members(value: type) -> Iterator[str]:
    if issubclass(value, Enum):
        yield "Values: " + ", ".join(f"`{one.value}`" for one in value)
        return
    for name, member in vars(value).items():
        if name[0] != "_" and (inspect.isroutine(member) or isinstance(member, property | classmethod)):
            yield f"- `{name}{_arguments(member)}`: {_first_line(member)}"


def _arguments(value: Any) -> str:
    """The names of the arguments; none for what is not called."""
    given = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    is_enum = inspect.isclass(value) and issubclass(value, Enum)
    if not callable(given) or is_enum or getattr(value, "_is_protocol", False) or hasattr(value, "__supertype__"):
        return ""
    if isinstance(value, type) and issubclass(value, dict):
        return ""
    found = [one for one in inspect.signature(given).parameters.values() if one.name != "self"]
    words = [f"{one.name}=" if one.default is not one.empty else str(one).split(":")[0] for one in found]
    return f"({', '.join(words)})" if words or not isinstance(value, msgspec.StructMeta) else ""


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _render(text: str) -> Iterator[str]:
    """Render a docstring: sections as lists."""
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", line):
            yield f"**{line[:-1]}**\n"
        elif line.startswith("    ") and not line.startswith("     "):
            yield "- " + _ENTRY.sub(lambda found: f"`{found[0]}`", line.strip())
        else:
            yield line.strip() if line.startswith("  ") else line
