"""The fields of a form that a server asks for: a flat schema of strings, numbers, choices and booleans. Pure.

What must stay true: every value this module returns is valid for the server's field.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from halocline.mcp.tool_names import plain_text
from halocline.protocol.values import JsonObject, Value

MOST_FIELDS = 20
MOST_CHOICES = 50
YES, NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")


class Unfit(Exception):
    """An answer is not valid for its field; the text says why."""


class Field(Value, frozen=True):
    """One field. `choices` are pairs of label and value."""

    name: str
    schema: JsonObject
    required: bool
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def question(self) -> str:
        """The question to show: title, description and, for a list, its choices."""
        title = plain_text(str(self.schema.get("title") or self.name), 100)
        about = plain_text(str(self.schema.get("description") or ""), 500)
        return f"{title}: {about}{self._several}" if about else f"{title}{self._several}"

    @property
    def _several(self) -> str:
        if self.schema.get("type") != "array":
            return ""
        names = ", ".join(shown for shown, _ in self.choices)
        return f" (several, separated by commas{': ' + names if names else ''})"

    @property
    def options(self) -> tuple[str, ...]:
        """Answers to offer; the server's default comes first."""
        match self.schema.get("type"):
            case "boolean":
                found: tuple[str, ...] = ("yes", "no")
            case "array":
                return ()
            case _:
                found = tuple(shown for shown, _ in self.choices)
        proposed = self._default_label
        return (proposed, *(each for each in found if each != proposed)) if proposed else found

    @property
    def _default_label(self) -> str:
        given = self.schema.get("default")
        if given is None or isinstance(given, list | dict):
            return ""
        if isinstance(given, bool):
            return "yes" if given else "no"
        return next((shown for shown, sent in self.choices if sent == given), plain_text(str(given), 200))

    def value(self, given: str) -> Any:
        """Convert an answer to the value to send. Raises Unfit."""
        match self.schema.get("type"):
            case "boolean":
                return _parse_truth(given)
            case "integer" | "number" as kind:
                return _parse_number(given, kind, self.schema)
            case "array":
                return self._list(given)
        return self._match_choice(given) if self.choices else _parse_text(given, self.schema)

    def _match_choice(self, given: str) -> str:
        for shown, sent in self.choices:
            if given.strip() in (shown, sent):
                return sent
        raise Unfit(f"it must be one of {', '.join(shown for shown, _ in self.choices)}")

    def _list(self, given: str) -> list[str]:
        parts = [part.strip() for part in given.split(",") if part.strip()]
        found = list(dict.fromkeys(self._match_choice(part) if self.choices else part for part in parts))
        least, most = self.schema.get("minItems"), self.schema.get("maxItems")
        _check_bounds(len(found), least, most, "choose {}")
        return found


def fields_of(schema: JsonObject) -> tuple[Field, ...] | None:
    """Return the fields of a form; None for a form that cannot be shown to a person."""
    given = schema.get("properties") or {}
    required = schema.get("required") or ()
    if not isinstance(given, dict) or len(given) > MOST_FIELDS:
        return None
    if not all(isinstance(field, dict) and field.get("type", "string") != "object" for field in given.values()):
        return None
    return tuple(Field(name, field, name in required, _list_choices(field)) for name, field in given.items())


def _list_choices(field: JsonObject) -> tuple[tuple[str, str], ...]:
    """Read choices in every form that the protocol has used so far."""
    source = field.get("items") if field.get("type") == "array" else field
    if not isinstance(source, dict):
        return ()
    titled = source.get("oneOf") or source.get("anyOf") or ()
    pairs = [(each.get("title") or each.get("const"), each.get("const")) for each in titled if isinstance(each, dict)]
    if not pairs:
        values = source.get("enum") or ()
        names = source.get("enumNames") or values
        pairs = list(zip(names, values, strict=False))
    return tuple((plain_text(str(shown), 100), str(sent)) for shown, sent in pairs if sent is not None)[:MOST_CHOICES]


def _parse_truth(given: str) -> bool:
    answer = given.strip().lower()
    if answer not in (*YES, *NO):
        raise Unfit("it must be yes or no")
    return answer in YES


def _parse_number(given: str, kind: str, schema: JsonObject) -> int | float:
    try:
        number = int(given) if kind == "integer" else float(given)
    except ValueError:
        raise Unfit("it must be a whole number" if kind == "integer" else "it must be a number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise Unfit("it must be a number")
    _check_bounds(number, schema.get("minimum"), schema.get("maximum"), "it must be {}")
    return number


def _parse_text(given: str, schema: JsonObject) -> str:
    _check_bounds(len(given), schema.get("minLength"), schema.get("maxLength"), "it must have {} characters")
    if check := _FORMATS.get(str(schema.get("format"))):
        fits, words = check
        try:
            if not fits(given):
                raise ValueError
        except ValueError:
            raise Unfit(f"it must be {words}") from None
    return given


def _check_bounds(number: float, least: Any, most: Any, template: str) -> None:
    if isinstance(least, int | float) and number < least:
        raise Unfit(template.format(f"at least {least:g}"))
    if isinstance(most, int | float) and number > most:
        raise Unfit(template.format(f"at most {most:g}"))


_FORMATS: dict[str, tuple[Callable[[str], object], str]] = {
    "email": (lambda text: re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", text), "an email address"),
    "uri": (lambda text: urlsplit(text).scheme and " " not in text, "a URL with its scheme, such as https://…"),
    "date": (date.fromisoformat, "a date such as 2026-11-21"),
    "date-time": (datetime.fromisoformat, "a date and time such as 2026-11-21T12:00:00+00:00"),
}
