"""Reports of the tide gauge: one file, minutes and metres. The package `tide` replaces it."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def make_report(lines, settings):
    """Return the lines of the report of one day.

    `lines` are "HH:MM;metres", `settings` has alarm_metres (a text), quiet_minutes (a number).
    """
    readings = []
    for line in lines:
        line = line.partition("#")[0].strip()
        if line:
            clock, height = line.split(";")
            hours, minutes = clock.split(":")
            readings.append((int(hours) * 60 + int(minutes), Decimal(height.strip().replace(",", "."))))
    readings.sort(key=lambda reading: reading[0])
    if not readings:
        return ["no readings"]

    level = Decimal(settings["alarm_metres"])
    highest = max(readings, key=lambda reading: reading[1])
    mean = sum(height for _, height in readings) / len(readings)
    report = [
        f"readings: {len(readings)}",
        f"highest: {highest[1]:.2f} m at {show(highest[0])}",
        f"mean: {mean.quantize(CENT, ROUND_HALF_UP)} m",
    ]
    above, last_alarm = 0, None
    for index, (minute, height) in enumerate(readings):
        if height < level:
            continue
        if index + 1 < len(readings):
            above += readings[index + 1][0] - minute
        if last_alarm is None or minute - last_alarm >= settings["quiet_minutes"]:
            report.append(f"alarm at {show(minute)}")
            last_alarm = minute
    report.append(f"above for {above} min")
    return report


def show(minute):
    return f"{minute // 60:02}:{minute % 60:02}"
