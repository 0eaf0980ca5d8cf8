"""When a schedule runs: cron's five fields, systemd's calendar events and a few words, each said in both forms.

What must stay true: a time that one of the two cannot say is refused there, never said as another one.
"""

import re
from collections.abc import Callable, Mapping

from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

FORMS = (
    'Write "daily 09:00", "weekdays 18:30", "hourly", a calendar event of systemd such as "Mon..Fri 09:00" or '
    '"*-*-01 06:00", or the five fields of cron such as "0 9 * * 1-5".'
)
WORDS = {
    "daily": "*-*-*",
    "weekdays": "Mon..Fri *-*-*",
    "weekends": "Sat,Sun *-*-*",
    "weekly": "Mon *-*-*",
    "monthly": "*-*-1",
}
"""Words with a time behind them, as in `daily 09:00`."""
SHORT = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00",
    "yearly": "*-01-01 00:00:00",
    "annually": "*-01-01 00:00:00",
}
"""Calendar events of systemd that are one word."""
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""Cron's own words; `@reboot` is no time."""
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAYS = {name: at for names in (WEEKDAYS, _LONG) for at, name in enumerate(names)}
_TIME = re.compile(r"\d{1,2}:\d{2}")
SPANS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 6)}
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of the months at most."""
Fields = Mapping[str, frozenset[int]]


class Times(Value, frozen=True):
    """When a schedule runs: `calendars` for systemd, `cron` for cron, or `no_cron`, why cron cannot say it."""

    calendars: tuple[str, ...]
    cron: str = ""
    zone: str = ""
    no_cron: str = ""

    def say_in_zone(self, calendar: str) -> str:
        """Return a calendar event with the time zone."""
        return f"{calendar} {self.zone}".strip()


def parse_times(text: str, zone: str = "") -> Times:
    """Read when a schedule runs, in a time zone if one is named. Raises UsageError with the forms that there are."""
    words = text.split()
    if zone or (words and re.fullmatch(r"UTC|[A-Z][A-Za-z_+-]+(/[A-Za-z0-9_+-]+)+", words[-1])):
        words, zone = (words, zone) if zone else (words[:-1], words[-1])
        _require_zone(zone)
    try:
        found = _read_words(words)
    except ValueError as error:
        raise UsageError(f"{text!r} is no time: {error}.", FORMS) from error
    return Times(found.calendars, found.cron, zone, found.no_cron)


def _require_zone(zone: str) -> None:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(zone)
    except (LookupError, ValueError, OSError) as error:
        raise UsageError(f"There is no time zone {zone!r}.", "Write it as Europe/Berlin or UTC.") from error


def _read_words(words: list[str]) -> Times:
    match words:
        case []:
            raise ValueError("it is empty")
        case [name] if name.lower() in NICKNAMES:
            return _read_cron(NICKNAMES[name.lower()].split())
        case [name] if name.startswith("@"):
            raise ValueError(f"{name} is not a time of day")
        case [name] if name.lower() in SHORT:
            return _read_calendar(SHORT[name.lower()].split())
        case [name, time] if name.lower() in WORDS and _TIME.fullmatch(time):
            return _read_calendar([*WORDS[name.lower()].split(), time])
        case [_, _, _, _, _] if ":" not in "".join(words):
            return _read_cron(words)
    return _read_calendar(words)


def _read_cron(words: list[str]) -> Times:
    """Read five fields. Where both kinds of days are given, cron runs on either."""
    minute, hour, day, month, weekday = words
    days = _read_field(weekday, "weekday", _cron_part, WEEKDAYS, highest=7)
    fields = {
        "minute": _read_field(minute, "minute", _cron_part),
        "hour": _read_field(hour, "hour", _cron_part),
        "day": _read_field(day, "day", _cron_part),
        "month": _read_field(month, "month", _cron_part, ("", *MONTHS)),
        "weekday": frozenset(one % 7 for one in days),
    }
    if weekday[0] == "*":
        _require_a_day(fields)
    if day[0] == "*" or weekday[0] == "*":
        return Times((_say_calendar(fields),), " ".join(words))
    every = {**fields, "day": _whole("day")}, {**fields, "weekday": _whole("weekday")}
    return Times(tuple(map(_say_calendar, every)), " ".join(words))


def _read_calendar(words: list[str]) -> Times:
    """Read a calendar event of systemd: days of the week, a date and a time, each of which may be left out."""
    said, rest = " ".join(words), [*words]
    weekday = rest.pop(0) if rest and rest[0][0].isalpha() else ""
    date = rest.pop(0) if rest and ":" not in rest[0] else "*-*-*"
    time = rest.pop(0) if rest else "00:00"
    if rest or ":" not in time:
        raise ValueError(f"{(rest or [time])[0]!r} is not understood")
    parts = date.replace("~", "-").split("-")
    if len(parts) not in (2, 3):
        raise ValueError(f"{date!r} is no date")
    *years, month, day = parts
    hour, minute, *seconds = time.split(":")
    fields = {
        "minute": _read_field(minute, "minute", _calendar_part),
        "hour": _read_field(hour, "hour", _calendar_part),
        "day": _read_field(day, "day", _calendar_part),
        "month": _read_field(month, "month", _calendar_part),
        "weekday": _read_weekdays(weekday) if weekday else _whole("weekday"),
    }
    _require_a_day(fields)
    if len(seconds) > 1 or not all(re.fullmatch(r"[\d*/.,]+", one) for one in (*years, *seconds)):
        raise ValueError(f"{said!r} is not understood")
    why = _why_no_cron(fields, years, seconds, last="~" in date)
    return Times((said,), "" if why else _say_cron(fields), no_cron=why)


def _why_no_cron(fields: Fields, years: list[str], seconds: list[str], *, last: bool) -> str:
    if last or any(year != "*" for year in years):
        return "cron knows neither years nor days from the end of a month"
    if any(second.strip("0") for second in seconds):
        return "cron knows no seconds"
    if fields["weekday"] != _whole("weekday") and fields["day"] != _whole("day"):
        return "cron runs on a day of the month or of the week, not where both meet"
    return ""


def _read_weekdays(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.rstrip(",").lower().split(","):
        first, _, last = part.partition("..") if ".." in part else part.partition("-")
        if first not in _DAYS or (last or first) not in _DAYS:
            raise ValueError(f"{part!r} is no day of the week")
        begin, end = _DAYS[first], _DAYS[last or first] or 7 * bool(last)
        if end < begin:
            raise ValueError(f"{part!r} ends before it begins")
        found |= {one % 7 for one in range(begin, end + 1)}
    return frozenset(found)


def _require_a_day(fields: Fields) -> None:
    """Raise ValueError for days that no month has, such as 31 February."""
    if all(day > LONGEST[month - 1] for day in fields["day"] for month in fields["month"]):
        raise ValueError("that day never comes")


def _whole(name: str) -> frozenset[int]:
    low, high = SPANS[name]
    return frozenset(range(low, high + 1))


def _read_field(
    text: str,
    name: str,
    read_part: Callable[[str, int, int], range],
    names: tuple[str, ...] = (),
    highest: int | None = None,
) -> frozenset[int]:
    """Return the numbers of a field. Raises ValueError."""
    low, high = SPANS[name][0], SPANS[name][1] if highest is None else highest
    words = {word: str(at) for at, word in enumerate(names) if word}
    plain = re.sub(r"[A-Za-z]+", lambda found: words.get(found[0].lower(), found[0]), text)
    found: set[int] = set()
    for part in plain.split(","):
        try:
            numbers = read_part(part, low, high)
        except ValueError:
            raise ValueError(f"{text!r} is no {name}") from None
        if not numbers or numbers[0] < low or numbers[-1] > high:
            raise ValueError(f"{text!r} is no {name}, which is {low} to {high}")
        found |= {*numbers}
    return frozenset(found)


def _cron_part(part: str, low: int, high: int) -> range:
    """Read `*`, `5`, `1-5`, `*/15` or `1-10/2`."""
    span, _, step = part.partition("/")
    if span == "*":
        return _steps(low, high, step)
    first, dash, last = span.partition("-")
    if step and not dash:
        raise ValueError(part)
    return _steps(_number(first), _number(last) if dash else _number(first), step)


def _calendar_part(part: str, low: int, high: int) -> range:
    """Read `*`, `5`, `1..5`, `*/15`, `0/15` or `1..10/2`."""
    span, slash, step = part.partition("/")
    if span == "*":
        return _steps(low, high, step)
    first, dots, last = span.partition("..")
    return _steps(_number(first), _number(last) if dots else high if slash else _number(first), step)


def _steps(first: int, last: int, step: str) -> range:
    return range(first, last + 1, _number(step) if step else 1)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _say_calendar(fields: Fields) -> str:
    days = fields["weekday"]
    names = ",".join(WEEKDAYS[one].title() for one in sorted(days, key=lambda one: one or 7))
    said = {name: _say(fields[name], name, "..") for name in SPANS}
    weekday = "" if days == _whole("weekday") else f"{names} "
    return f"{weekday}*-{said['month']}-{said['day']} {said['hour']}:{said['minute']}:00"


def _say_cron(fields: Fields) -> str:
    return " ".join(_say(fields[name], name, "-") for name in ("minute", "hour", "day", "month", "weekday"))


def _say(numbers: frozenset[int], name: str, between: str) -> str:
    """Write numbers as ranges; all that there are as `*`."""
    if numbers == _whole(name):
        return "*"
    runs: list[list[int]] = []
    for one in sorted(numbers):
        if runs and runs[-1][-1] == one - 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ",".join(f"{run[0]}{between}{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
