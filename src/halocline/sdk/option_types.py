"""The types of options: a value of another type is refused where it is given, not when the task first uses it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import NoneType
from typing import Any

from halocline.ports.own import Host
from halocline.protocol.errors import UsageError
from halocline.sdk.values import describe_type

_TEXT = ((str,), "text")
_NUMBER = ((int, float, NoneType), "a number")
_WORD = ((str, NoneType), "a word")
_CALLBACK = ((Callable, NoneType), "a function")
_TEXTS = ((Sequence,), "a list of texts")
KINDS: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "folder": ((str, PathLike, NoneType), "a path"),
    "tools": ((Sequence,), "a list of decorated functions"),
    "on_approval": _CALLBACK,
    "on_question": _CALLBACK,
    "hooks": ((Mapping,), "a dict from points to functions"),
    "host": ((Host, NoneType), "a halocline.Host"),
    "mode": _WORD,
    "approval_mode": _WORD,
    "allowed_tools": _TEXTS,
    "disallowed_tools": _TEXTS,
    "roots": ((Sequence,), "a list of paths"),
    "system_prompt": _TEXT,
    "effort": _WORD,
    "max_steps": ((int, NoneType), "a whole number"),
    "max_cost": _NUMBER,
    "token_limit": ((int, NoneType), "a whole number"),
    "time_limit": _NUMBER,
    "api_key": _TEXT,
    "base_url": ((str, NoneType), "text"),
    "profile": ((str, NoneType), "text"),
    "trusted": ((bool,), "True or False"),
}
"""The types that each option takes, for `isinstance` and in words."""


SEE = "The options and their types: help(halocline.Options)"


def require_types(options: Mapping[str, Any]) -> None:
    """Raises UsageError for the first option of another type."""
    for name, given in options.items():
        if name == "model":
            require_model(given)
        elif not _fits(given, KINDS[name][0]) or (KINDS[name] is _TEXTS and not all(_is_text(one) for one in given)):
            raise UsageError(f"The option {name} is {KINDS[name][1]}, not {describe_type(type(given))}.", SEE)


def require_text(prompt: object) -> None:
    """Raises UsageError for a prompt that is no text."""
    if not _is_text(prompt):
        raise UsageError(f"A prompt is text, not {describe_type(type(prompt))}.", "Pass a str.")


def require_model(given: object) -> None:
    """Raises UsageError for what is neither a model's name nor a model."""
    if inspect.iscoroutinefunction(getattr(given, "stream", None)):
        text = f"The method stream of {describe_type(type(given))} is no generator: it yields nothing."
        raise UsageError(text, "Yield events, as halocline.Model says.")
    if not isinstance(given, str | None) and not (hasattr(given, "stream") and hasattr(given, "name")):
        raise UsageError(f"The option model is a name or a halocline.Model, not {describe_type(type(given))}.", SEE)


def _fits(given: object, kinds: tuple[Any, ...]) -> bool:
    """True if a value is of one of the kinds. True is no number, and a text no list."""
    if isinstance(given, bool):
        return bool in kinds
    return isinstance(given, kinds) and not (isinstance(given, str | bytes) and Sequence in kinds)


def _is_text(given: object) -> bool:
    return isinstance(given, str)
