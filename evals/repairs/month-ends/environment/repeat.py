"""Dates that repeat. RULES.md says what a rule may have."""

from datetime import date, timedelta


def dates(rule, start, count):
    """Return the first dates of a rule, from a day on. Raises ValueError for a rule that is not one."""
    found, day = [], start
    while len(found) < count:
        found.append(day)
        day = advance(rule, day)
    return found


def advance(rule, day):
    every = rule.get("every", 1)
    if rule["unit"] == "day":
        return day + timedelta(days=every)
    if rule["unit"] == "week":
        return day + timedelta(weeks=every)
    if rule["unit"] == "month":
        month = day.month - 1 + every
        return date(day.year + month // 12, month % 12 + 1, min(day.day, 28))
    return date(day.year + every, day.month, day.day)
