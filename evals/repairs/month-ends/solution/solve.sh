#!/bin/bash
set -e
cat > repeat.py <<'EOF'
"""Dates that repeat. RULES.md says what a rule may have."""

import calendar
from datetime import date, timedelta

BELONGS = {"weekdays": "week", "day": "month", "nth": "month"}
KEYS = {"unit", "every", "until", "skip", *BELONGS}


def dates(rule, start, count):
    """Return the first dates of a rule, from a day on. Raises ValueError for a rule that is not one."""
    check(rule)
    if not is_whole(count) or count < 0:
        raise ValueError("the count must be a whole number of at least 0")
    until, skip = rule.get("until", date.max), set(rule.get("skip", ()))
    found = []
    for day in propose(rule, start):
        if day > until or len(found) >= count:
            break
        if day >= start and day not in skip:
            found.append(day)
    return found


def is_whole(number):
    return isinstance(number, int) and not isinstance(number, bool)


def is_in(number, least, most):
    return is_whole(number) and least <= number <= most


def is_date(value):
    return type(value) is date


def check(rule):
    if set(rule) - KEYS or rule.get("unit") not in ("day", "week", "month", "year"):
        raise ValueError("an unknown key or unit")
    if any(key in rule and rule["unit"] != unit for key, unit in BELONGS.items()) or {"day", "nth"} <= set(rule):
        raise ValueError("keys that do not belong together")
    weekdays, nth, skip = rule.get("weekdays", [0]), rule.get("nth", [1, 0]), rule.get("skip", [])
    good = (
        is_in(rule.get("every", 1), 1, float("inf")),
        isinstance(weekdays, list) and weekdays and all(is_in(day, 0, 6) for day in weekdays),
        is_in(rule.get("day", 1), 1, 31) or rule["day"] == "last",
        isinstance(nth, (list, tuple)) and len(nth) == 2 and (is_in(nth[0], 1, 5) or is_in(nth[0], -1, -1)) and is_in(nth[1], 0, 6),
        is_date(rule.get("until", date.max)),
        isinstance(skip, list) and all(is_date(day) for day in skip),
    )
    if not all(good):
        raise ValueError("a value that is not allowed")


def propose(rule, start):
    """Yield the dates of the units, in order, until the calendar ends; some may be before the start."""
    every, unit = rule.get("every", 1), rule["unit"]
    number = 0
    try:
        while True:
            if unit == "day":
                yield start + timedelta(days=number)
            elif unit == "week":
                monday = start.toordinal() - start.weekday() + 7 * number
                for weekday in sorted(set(rule.get("weekdays", [start.weekday()]))):
                    yield date.fromordinal(monday + weekday)
            elif unit == "month":
                month = start.month - 1 + number
                yield from find_in_month(rule, start.year + month // 12, month % 12 + 1, start.day)
            else:
                year = start.year + number
                yield date(year, start.month, min(start.day, days_of(year, start.month)))
            number += every
    except (ValueError, OverflowError):
        return


def days_of(year, month):
    if year > date.max.year:
        raise ValueError("the calendar has ended")
    return calendar.monthrange(year, month)[1]


def find_in_month(rule, year, month, usual):
    days = days_of(year, month)
    if "nth" not in rule:
        day = rule.get("day", usual)
        yield date(year, month, days if day == "last" else min(day, days))
        return
    number, weekday = rule["nth"]
    all_days = [day for day in range(1, days + 1) if date(year, month, day).weekday() == weekday]
    place = number if number < 0 else number - 1
    if place < len(all_days):
        yield date(year, month, all_days[place])
EOF
