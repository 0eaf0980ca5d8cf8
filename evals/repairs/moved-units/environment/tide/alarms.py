"""When the water was at or above the level of alarm."""

from functools import lru_cache

from tide.units import read_metres


class Alarms:
    def __init__(self, settings):
        self.level = read_metres(settings["alarm_metres"])
        self.quiet = settings["quiet_minutes"]

    def __eq__(self, other):
        return self.level == other.level

    def __hash__(self):
        return hash(self.level)

    @lru_cache
    def find(self, readings):
        """Return the times of alarms: the first, and each that comes after the quiet time since the last alarm."""
        found = []
        for second, height in readings:
            if height > self.level and (not found or second - found[-1] >= self.quiet):
                found.append(second)
        return found

    @lru_cache
    def time_above(self, readings):
        """Return how many seconds it was above, from each such reading to the next one."""
        pairs = zip(readings, readings[1:])
        return sum(end - start for (start, height), (end, _) in pairs if height >= self.level)
