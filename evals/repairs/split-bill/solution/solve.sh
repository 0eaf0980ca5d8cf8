#!/bin/bash
set -e
cat > bill.py <<'EOF'
"""Splits bills of a restaurant. Amounts are texts such as "12.50", as they come from the till and go to the printer."""

from fractions import Fraction


def _read(amount):
    cents = Fraction(amount) * 100
    return int(cents)


def _show(cents):
    return f"{cents // 100}.{cents % 100:02}"


def add_tip(amount, percent):
    """Return the amount with a tip, rounded to cents; half a cent is rounded up."""
    exact = _read(amount) * (1 + Fraction(percent) / 100)
    return _show(int(exact + Fraction(1, 2)))


def split(amount, people):
    """Return what each of the people pays: shares that differ by one cent at most and add up to the amount.

    Those who pay a cent more come first.
    """
    if people < 1:
        raise ValueError("a bill needs someone who pays it")
    share, more = divmod(_read(amount), people)
    return [_show(share + (number < more)) for number in range(people)]


def total(amounts):
    """Return the sum of amounts."""
    return _show(sum(_read(amount) for amount in amounts))
EOF
