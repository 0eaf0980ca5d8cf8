"""The base of every value that crosses a wire or a disk: frozen, compact, tolerant of fields it does not know."""

import re
from typing import Any

import msgspec

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def to_snake_case(name: str) -> str:
    """`TurnStarted` becomes `turn_started`: a type's name as JSON shows it."""
    return _HUMP.sub("_", name).lower()


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A frozen value without a tag. Fields at their default are not written."""


class Tagged(Value, frozen=True, tag_field="type", tag=to_snake_case):
    """A frozen value that is a member of a union; JSON names the member under `type`."""


JsonObject = dict[str, Any]
