"""Differences between a recording and its replay: the first one of two values, for a person to read."""

import msgspec

from halocline.protocol.values import Value


class Difference(Value, frozen=True):
    """A difference: its place, the path in it, the recorded value, and the value now."""

    place: str
    path: str
    recorded: str
    now: str


def first_difference(recorded: str, now: str, home: str) -> tuple[str, str, str] | None:
    """Return the first difference of two JSON texts: the path and both values; None if they are equal.

    A place below `home`, that of the person now, equals the same place below another home.
    """
    if recorded == now:
        return None
    return _first_difference(msgspec.json.decode(recorded), msgspec.json.decode(now), "", home)


def _first_difference(before: object, after: object, path: str, home: str) -> tuple[str, str, str] | None:
    match before, after:
        case dict(), dict():
            keys = [*before, *(key for key in after if key not in before)]
            pairs = ((f"{path}.{key}".lstrip("."), before.get(key), after.get(key)) for key in keys)
        case list(), list():
            length = max(len(before), len(after))
            pairs = ((f"{path}[{at}]", _item_at(before, at), _item_at(after, at)) for at in range(length))
        case _ if before == after:
            return None
        case str(), str() if _is_same_place(before, after, home):
            return None
        case _:
            return (path, *_show_difference(before, after))
    return next((found for key, one, other in pairs if (found := _first_difference(one, other, key, home))), None)


def _is_same_place(before: str, after: str, home: str) -> bool:
    """True for one place in two homes."""
    below = after.removeprefix(home)
    return below != after and below.startswith("/") and before.startswith("/") and before.endswith(below)


def _item_at(items: list[object], at: int) -> object:
    return items[at] if at < len(items) else None


def _show_difference(before: object, after: object) -> tuple[str, str]:
    """Return both values, long texts from just before the first difference."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return _shorten_value(before), _shorten_value(after)
    part = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(after)) if part is None else part) - 30)
    cut = "…" if start else ""
    return cut + _shorten_value(before[start:]), cut + _shorten_value(after[start:])


def _shorten_value(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 100 else text[:100] + "…"
