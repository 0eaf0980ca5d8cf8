"""The interval of a rate, for reports and evaluations. Pure."""

from math import sqrt

_Z = 1.96
"""Standard deviations on each side of an interval that holds with 95 %."""


def find_rate_interval(passed: int, count: int) -> tuple[float, float]:
    """Return the Wilson interval of a share, with 95 %; without any items it is everything."""
    if not count:
        return 0.0, 1.0
    share, square = passed / count, _Z * _Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = _Z * sqrt(share * (1 - share) / count + square / (4 * count * count)) / (1 + square / count)
    return round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)
