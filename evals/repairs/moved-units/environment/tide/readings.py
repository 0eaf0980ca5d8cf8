"""Readings of the gauge, as (second, centimetres)."""

from tide.units import read_clock, read_metres


def read_lines(lines):
    """Return the readings of lines; what comes after # is a comment."""
    readings = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        clock, height = line.strip().split(";")
        readings.append((read_clock(clock), read_metres(height)))
    return sorted(readings)
