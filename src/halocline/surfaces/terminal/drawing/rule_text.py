"""Policy rules as text."""

import json

import msgspec

from halocline.protocol.permission_rules import Rule


def describe_conditions(rule: Rule) -> str:
    """Describe the conditions of a rule."""
    given = msgspec.to_builtins(rule)
    shown = {name: value for name, value in given.items() if name not in ("decision", "name", "source", "reason")}
    return "; ".join(f"{name} {_plain_text(value)}" for name, value in shown.items()) or "everything"


def _plain_text(value: object) -> str:
    if not isinstance(value, list | tuple):
        return json.dumps(value) if isinstance(value, bool) else str(value)
    return " ".join(str(one) if isinstance(one, str) else "|".join(one) for one in value)
