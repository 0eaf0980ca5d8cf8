"""The report of one day."""

from tide.alarms import Alarms
from tide.readings import read_lines
from tide.units import show_clock, show_metres


def make_report(lines, settings):
    """Return the lines of the report of one day."""
    readings = tuple(read_lines(lines))
    if not readings:
        return ["no readings"]
    alarms = Alarms(settings)
    second, height = max(readings, key=lambda reading: (reading[1], reading[0]))
    mean = sum(height for _, height in readings) // len(readings)
    report = [
        f"readings: {len(readings)}",
        f"highest: {show_metres(height)} m at {show_clock(second)}",
        f"mean: {show_metres(mean)} m",
    ]
    report += [f"alarm at {show_clock(second)}" for second in alarms.find(readings)]
    report.append(f"above for {alarms.time_above(readings) // 60} min")
    return report
