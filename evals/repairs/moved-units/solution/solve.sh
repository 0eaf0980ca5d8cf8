#!/bin/bash
set -e
cat > tide/units.py <<'EOF'
"""Units: inside, heights are whole centimetres and times are seconds of the day; others occur at the edges only."""

from decimal import Decimal


def read_metres(text):
    return int(Decimal(text.strip().replace(",", ".")) * 100)


def show_metres(centimetres):
    sign = "-" if centimetres < 0 else ""
    return f"{sign}{abs(centimetres) // 100}.{abs(centimetres) % 100:02}"


def read_clock(text):
    hours, minutes = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60


def show_clock(seconds):
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}"
EOF
cat > tide/readings.py <<'EOF'
"""Readings of the gauge, as (second, centimetres)."""

from tide.units import read_clock, read_metres


def read_lines(lines):
    """Return the readings of lines; what comes after # is a comment."""
    readings = []
    for line in lines:
        line = line.partition("#")[0].strip()
        if line:
            clock, height = line.split(";")
            readings.append((read_clock(clock), read_metres(height)))
    return sorted(readings, key=lambda reading: reading[0])
EOF
cat > tide/alarms.py <<'EOF'
"""When the water was at or above the level of alarm."""

from tide.units import read_metres


class Alarms:
    def __init__(self, settings):
        self.level = read_metres(settings["alarm_metres"])
        self.quiet = settings["quiet_minutes"] * 60

    def find(self, readings):
        """Return the times of alarms: the first, and each that comes after the quiet time since the last alarm."""
        found = []
        for second, height in readings:
            if height >= self.level and (not found or second - found[-1] >= self.quiet):
                found.append(second)
        return found

    def time_above(self, readings):
        """Return how many seconds it was above, from each such reading to the next one."""
        pairs = zip(readings, readings[1:])
        return sum(end - start for (start, height), (end, _) in pairs if height >= self.level)
EOF
sed -i -e 's/max(readings, key=.*/max(readings, key=lambda reading: reading[1])/' \
    -e 's|mean = .*|mean = round_half_up(sum(height for _, height in readings), len(readings))|' tide/report.py
cat >> tide/report.py <<'EOF'


def round_half_up(total, count):
    """Divide; a half is rounded away from zero."""
    rounded = (2 * abs(total) + count) // (2 * count)
    return rounded if total >= 0 else -rounded
EOF
