"""Arguments that the gate judges: which name files and which are addresses.

What must stay true: no path and no address reaches a function unjudged. One that stands too deep in a type to be found
in the arguments makes no tool.
"""

import inspect
import types
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints

from halocline.protocol.errors import UsageError
from halocline.protocol.events.custom_tools import Effect

Url = NewType("Url", str)
"""An address among the arguments of a tool: its host is judged as for any request."""
_TEXT = inspect.Parameter("text", inspect.Parameter.POSITIONAL_ONLY, annotation=str)
object.__setattr__(Url, "__signature__", inspect.Signature([_TEXT]))


def find_paths(hints: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the arguments that name files. Raises UsageError for one that has paths deeper than in a list."""
    found = tuple(argument for argument, hint in hints.items() if _holds(hint, PurePath))
    for argument in found:
        if not _is_flat(hints[argument], PurePath):
            raise UsageError(
                f"The argument {argument} of the tool {name} has a path inside another type, where it is not judged.",
                "Give it the type Path or list[Path], as an argument of its own.",
            )
    return found


def find_url(hints: Mapping[str, Any], name: str, effect: Effect) -> tuple[str, ...]:
    """Return the argument that is an address. Raises UsageError for several, and for an effect that reaches none."""
    found = tuple(argument for argument, hint in hints.items() if _holds(hint, Url))
    if len(found) > 1 or any(not _is_one(hints[argument], Url) for argument in found):
        raise UsageError(
            f"The tool {name} takes several addresses, or one inside another type; one is judged in a call.",
            "Give it one argument of type Url, and let the model call it once for each address.",
        )
    if found and effect not in ("", "network"):
        raise UsageError(
            f"The tool {name} takes an address, but its effect {effect!r} reaches no server.", 'Write effect="network".'
        )
    return found


def _is_flat(hint: Any, kind: Any) -> bool:
    """True if a type holds the kind only as itself, or in a list."""
    return all(
        _is_kind(one, kind) or not _holds(one, kind) or (_is_list(one) and all(_is_one(p, kind) for p in get_args(one)))
        for one in _alternatives(hint)
    )


def _is_one(hint: Any, kind: Any) -> bool:
    """True if a type holds the kind only as itself."""
    return all(_is_kind(one, kind) or not _holds(one, kind) for one in _alternatives(hint))


def _is_list(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and not issubclass(origin, Mapping) and hasattr(origin, "__iter__")


def _alternatives(hint: Any) -> Iterator[Any]:
    """Yield what a value of a type may be: the parts of a union, and what stands behind another name."""
    if get_origin(hint) in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _alternatives(part)
    elif get_origin(hint) is Annotated:
        yield from _alternatives(get_args(hint)[0])
    elif (meant := _behind(hint)) is not None and hint is not Url:
        yield from _alternatives(meant)
    else:
        yield hint


def _behind(hint: Any) -> Any:
    """Return the type that a NewType, an alias or a type variable stands for; None for any other."""
    names = ("__supertype__", "__value__", "__bound__")
    return next((getattr(hint, name) for name in names if not isinstance(hint, type) and hasattr(hint, name)), None)


def _is_kind(hint: Any, kind: Any) -> bool:
    return hint is kind or (isinstance(hint, type) and isinstance(kind, type) and issubclass(hint, kind))


def _holds(hint: Any, kind: Any) -> bool:
    """True if a type is this one, or is made of it at any depth."""
    seen, left = list[Any](), [hint]
    while left:
        one = left.pop()
        if _is_kind(one, kind):
            return True
        if not any(one is known for known in seen):
            seen.append(one)
            left += _parts_of(one)
    return False


def _parts_of(hint: Any) -> list[Any]:
    whole = get_origin(hint) or hint
    behind = _behind(hint)
    parts = [*get_args(hint), *([] if behind is None else [behind])]
    if isinstance(fields := getattr(whole, "model_fields", None), dict):  # of pydantic
        return [*parts, *(field.annotation for field in fields.values())]
    if not isinstance(whole, type) or whole.__module__ == "builtins":
        return parts
    try:
        return [*parts, *get_type_hints(whole, include_extras=True).values()]
    except (NameError, TypeError) as error:
        raise UsageError(
            f"The types in {whole.__name__} cannot be read: {error}.", "Import them outside of functions."
        ) from error
