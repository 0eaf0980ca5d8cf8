"""The wait that a server asks for, from its headers or its words. Pure."""

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

_UNIX_TIME = 1_000_000_000
_YEAR = 366 * 86_400.0
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_FIELDS = re.compile(
    r'"(?:retryDelay|resets_in_seconds|reset_after|retry_after)" ?: ?"?(\d{1,9}(?:\.\d{1,9})?)s?"?[,}\s]'
)
_MOMENT = re.compile(r'"resets?_at" ?: ?"?(\d{9,13})\b')
_ZONED = r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_DATE = re.compile(rf"(?:reset|available|again)\w*[^.\d]{{0,20}}({_ZONED})")
_SPAN = re.compile(
    r"(?:again|resets?|retry|wait)(?: \w+)? (?:in|after|for)? ?(?:about )?"
    r"((?:\d{1,5}(?:\.\d+)? ?[a-z]+,? ?(?:and )?){1,4})"
)
_PIECE = re.compile(r"(\d{1,5}(?:\.\d+)?) ?(ms|[dhms])")


def wait_asked(headers: Mapping[str, str], said: str, now: float | None = None) -> float | None:
    """Return the seconds to wait; None if the server names none. `now` is Unix time."""
    now = time.time() if now is None else now
    if (asked := retry_after(headers, now)) is not None:
        return asked
    for pattern, read in _READERS:
        if found := pattern.search(said):
            return read(found[1], now)
    if found := _SPAN.search(said.lower()):
        pieces = _PIECE.findall(found[1])
        return sum(float(count) * _UNITS[unit] for count, unit in pieces) if pieces else None
    return None


def describe_end(seconds: float, now: float | None = None) -> str:
    """Return when a wait is over, in local time: `until 14:20`, `until 3 May, 14:20`, `for more than a year`."""
    if seconds > _YEAR:
        return "for more than a year"
    begin = datetime.fromtimestamp(time.time() if now is None else now, UTC).astimezone()
    end = datetime.fromtimestamp(begin.timestamp() + seconds, UTC).astimezone()
    return f"until {end:%H:%M}" if end.date() == begin.date() else f"until {end.day} {end:%B}, {end:%H:%M}"


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that headers ask to wait. `now` is Unix time; the server's own date wins."""
    if (wait := _parse_number(headers.get("retry-after-ms", ""))) is not None:
        return wait / 1000
    asked = headers.get("retry-after", "")
    if (wait := _parse_number(asked)) is not None:
        return wait
    if (date := headers.get("date")) and (server_time := _http_date(date)) is not None:
        now = server_time
    if asked and (moment := _http_date(asked)) is not None:
        return max(0.0, moment - now)
    for name in ("x-ratelimit-reset", "ratelimit-reset"):
        if (reset := _parse_number(headers.get(name, ""))) is not None:
            return _seconds_until(reset, now)
    return None


def _seconds_until(reset: float, now: float) -> float:
    """Convert a reset given in seconds from now, Unix time, or Unix time in milliseconds."""
    if reset > _UNIX_TIME * 1000:
        reset /= 1000
    return max(0.0, reset - now) if reset > _UNIX_TIME else reset


def _seconds_to_date(text: str, now: float) -> float | None:
    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - now)
    except ValueError:  # there is no such day
        return None


_READERS: tuple[tuple[re.Pattern[str], Callable[[str, float], float | None]], ...] = (
    (_FIELDS, lambda text, now: float(text)),
    (_MOMENT, lambda text, now: _seconds_until(float(text), now)),
    (_DATE, _seconds_to_date),
)
"""The form of each of these, and its reading."""


def _parse_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,15}(\.\d*)?", text.strip()) else None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
